"""The adversary who knows the algorithm, as a part of a promise: convicts, acquits, or can't tell."""

from math import factorial

import pytest

from republish.anonymize.attack import algorithm
from republish.anonymize.principles import publisher_of
from republish.anonymize.promise import Posterior, Promise
from republish.anonymize.promise.registry import describe_findings
from republish.anonymize.streamliner import release as streamliner_release
from tests.anonymize.streamliner.gda_of_table_7 import gda_of_table_7
from tests.anonymize.streamliner.streamliner_tables import make_contract, people, run
from tests.attacks import attack_releases

AGES = [0, 1, 5, 6]


def found(values, contract, ages=AGES, publish=publisher_of, promise=None):
    """What the attack finds on a release: a row of its findings, and what is said of all of them."""
    table = people(ages, [0] * len(ages), list(values))
    made = run(table, contract)
    (attacked,) = attack_releases(
        [(contract, table, made)], promise and [promise], publish=publish and publish(contract)
    )
    (row,) = attacked.findings.filter(promise="knowing the algorithm").rows(named=True)
    return row, describe_findings(attacked.findings)


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("method", ["gda", "rda"])
def test_releases_of_the_streamliner_keep_the_bound_and_reach_it(method):
    row, _ = found("abac", make_contract(l=2, method=method))
    assert row["holds"]
    assert (row["found"], row["required"], row["undecided"]) == (0.5, 0.5, 0)


@pytest.mark.slow("takes more than a second")
def test_table_7_as_printed_gives_values_away_and_is_convicted(monkeypatch):
    monkeypatch.setattr(streamliner_release, "gda", gda_of_table_7)
    row, _ = found("aabc", make_contract(l=2))
    assert (row["holds"], row["found"]) == (False, 1)


@pytest.mark.slow("takes more than a second")
def test_a_smaller_bound_than_the_algorithm_keeps_is_found_broken():
    row, _ = found("aabc", make_contract(l=2), promise=Promise(Posterior(1 / 3)))
    assert (row["holds"], row["broken"]) == (False, 4)


def test_orders_of_many_people_are_not_counted(monkeypatch):
    """The factorial of a million takes seconds, and of ten million hours."""

    def small(number):
        assert number <= 10
        return factorial(number)

    monkeypatch.setattr(algorithm, "factorial", small)
    row, _ = found("abcd" * 25, make_contract(l=2), ages=range(100))
    assert (row["holds"], row["undecided"]) == (True, 100)


@pytest.mark.parametrize(
    ("contract", "values", "publish"),
    [
        (make_contract(l=2), "abcdefgh", publisher_of),
        (make_contract(l=2), "aabc", None),
        (make_contract(l=2, method="ria"), "aabc", publisher_of),
        (make_contract(l=2), "aabc", lambda _: lambda *_: None),
    ],
    ids=["too many tables", "unknown algorithm", "two secrets", "another algorithm"],
)
def test_what_cannot_be_counted_is_said_to_be_undecided(contract, values, publish):
    row, said = found(values, contract, ages=list(range(len(values))), publish=publish)
    assert (row["holds"], row["undecided"], row["found"]) == (True, len(values), None)
    assert "was not decided by this audit" in said
