"""People who are in the table and in no group: what their absence says of their values."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from republish.anonymize.contract.combined import combine
from republish.anonymize.errors import NotEligible
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from tests.attacks import attack_releases
from tests.clinic import CLINIC
from tests.series import KEY, entered

ABSENCE = "candidates by absence"
M_INVARIANCE = {"name": "m_invariance", "m": 2}
PRINCIPLES = {
    "intervals": M_INVARIANCE,
    "anatomy": M_INVARIANCE | {"format": "anatomy"},
    "e_equivalence": {"name": "e_equivalence", "m": 2, "e": 2},
    "streamliner": {"name": "streamliner", "l": 2, "method": "rda", "then": "m_invariance"},
}


def contract(principle, sensitive=None):
    return parse_contract(
        {
            **CLINIC,
            "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 999]}],
            "sensitive": sensitive or {"name": "value", "values": list("abcde")},
            "principle": principle,
        }
    )


def snapshot(people):
    """A snapshot of `{person: value}`; ages are people's numbers."""
    ages = [int(person[1:]) for person in people]
    return pl.DataFrame({"person": list(people), "age": ages, "value": list(people.values())})


def crowd(values, first=0):
    return {f"p{first + n:03d}": value for n, value in enumerate(values)}


def released(declared, *tables, missing=(), at=None):
    """`(contract, people, candidate)` of each table; the release `at`, or the last, lacks those `missing`."""
    state, made = State.empty(), []
    for number, table in enumerate(tables, start=1):
        people = entered(table if isinstance(table, pl.DataFrame) else snapshot(table), declared)
        people = combine(people, declared.table_schema)
        is_missing = (
            people["identifier"].is_in(list(missing)) if number == (at or len(tables)) else pl.Series([False])
        )
        candidate = principle_of(declared).release(
            people.filter(~is_missing).drop("identifier"),
            declared,
            state,
            number,
            lambda purpose, n=number: generator(KEY, "clinic", "v1", str(n), purpose),
        )
        held_back = len(people) - len(candidate.linkage)
        made.append(
            (declared, people, replace(candidate, figures=replace(candidate.figures, held_back=held_back)))
        )
        state = candidate.state
    return made


def absence(found):
    return found.findings.row(by_predicate=pl.col("promise") == ABSENCE, named=True)


def signature(made, person):
    """The values that a person's group has in a release."""
    declared, people, candidate = made
    release_format = principle_of(declared).format(declared)
    groups = release_format.read(release_format.internal(candidate.published, declared), declared).values
    one = people.filter(identifier=person).join(candidate.linkage, on="pseudonym")
    return set(groups.join(one.select("group_id"), on="group_id", how="semi")["value"])


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("principle", PRINCIPLES.values(), ids=PRINCIPLES)
@pytest.mark.parametrize("linked", [True, False])
def test_somebody_who_is_missing_and_has_few_values_left_breaks_the_promise(principle, linked):
    """`a b` and `c d` were this person's signatures: the value can only be `e`."""
    declared, people = contract(principle), crowd("abab")
    more = people | crowd("cdcd", 100)
    changed = more | {"p000": "c"}
    made = released(declared, people, more, changed, changed | {"p000": "e"}, missing=["p000"])
    assert [signature(one, "p000") for one in made[:3]] == [set("ab"), set("ab"), set("cd")]
    *before, last = attack_releases(made, linked=linked)
    assert [absence(found)["people"] for found in before] == [0, 0, 0]
    if not linked and principle["name"] != "e_equivalence" and principle.get("format") != "anatomy":
        return  # intervals may cover everybody, and then nobody is known to be missing
    assert {name: absence(last)[name] for name in ("people", "broken", "found", "required", "holds")} == {
        "people": 1, "broken": 1, "found": 1, "required": 2, "holds": False,
    }  # fmt: skip
    assert not last.holds


@pytest.mark.slow("takes more than a second")
def test_a_value_that_only_the_table_has_is_left_to_nobody_unless_it_is_declared():
    """Readers know `a` to `d`; two missing people alone have `e` and `f`."""
    people, found = crowd("abab"), {}
    more = people | crowd("cdcd", 100)
    changed = more | {"p000": "c", "p100": "a"}
    for values in (None, list("abcdef")):
        declared = contract(M_INVARIANCE, {"name": "value", "values": values})
        missing = {"p000": "e", "p100": "f"}
        made = released(declared, people, more, changed, changed | missing, missing=missing)
        found[values is None] = absence(list(attack_releases(made, linked=True))[-1])
    assert [found[True][name] for name in ("people", "broken", "found")] == [2, 2, 0]
    assert [found[False][name] for name in ("people", "broken", "found")] == [2, 0, 2]


@pytest.mark.slow("takes more than a second")
def test_a_person_who_waits_in_three_releases_excuses_one_of_those_who_are_missing():
    """No counterfeit has the age of one of these two: else two groups would cover them, and tell nothing."""
    declared, people = contract(PRINCIPLES["anatomy"]), crowd("ababcdcd")
    changed = people | {"p001": "c", "p003": "c"}
    missing = ["p001", "p003"]
    made = released(
        declared, people, people, people, changed, changed | dict.fromkeys(missing, "e"), missing=missing
    )
    said = [
        (of, table, replace(one, figures=replace(one.figures, held_back=1))) for of, table, one in made[:3]
    ]
    *_, last = attack_releases([*said, *made[3:]], linked=False)
    assert [absence(last)[name] for name in ("people", "undecided", "broken")] == [2, 1, 1]


@pytest.mark.slow("takes more than a second")
def test_all_people_of_a_signature_may_be_held_back_where_company_is_promised():
    """Where all who had a signature are missing, they may have its values; where others are there, none."""
    declared, people = contract(M_INVARIANCE | {"m": 4, "people_per_group": 2}), crowd("abcdabcd")
    everybody = released(declared, people, people | crowd("abcd", 100), missing=people)
    *_, last = attack_releases(everybody)
    assert (absence(last)["people"], absence(last)["found"]) == (8, 5)
    one = released(declared, people, people | crowd("abcd", 100), missing=["p000"])
    *_, last = attack_releases(one)
    assert (absence(last)["broken"], absence(last)["found"]) == (1, 1)


def test_a_value_that_may_be_known_counts_once_and_nothing_is_promised_of_who_has_it():
    sensitive = {"name": "value", "values": ["a", "b", "c", "none"], "not_sensitive": ["none"]}
    declared = contract(M_INVARIANCE | {"m": 3}, sensitive)
    people = crowd(["a", "b", "c"] * 4 + ["none"] * 12)
    made = released(declared, people)
    with_a = {name for name in people if "none" not in signature(made[0], name)}
    if not with_a:
        pytest.skip("everybody is beside somebody with none")
    person = min(with_a)
    *_, last = attack_releases(released(declared, people, people | {person: "none"}, missing=[person]))
    assert absence(last)["people"] == 0


@pytest.mark.slow("takes more than a second")
def test_people_who_were_deferred_are_counted_for_good_and_those_who_waited_are_not():
    first = crowd("abcde" * 4)
    later = first | crowd("aaaaab", 100)
    tables = (first, later, later | crowd("bcdebcdebcde", 200))
    made = released(contract(M_INVARIANCE | {"on_ineligible": "wait"}), *tables)
    assert [candidate.figures.held_back for _, _, candidate in made] == [0, 6, 0]
    partly = first | crowd("abab", 100)
    later = partly | crowd("ab", 200)
    deferred = released(contract(M_INVARIANCE), first, partly, later, missing=["p100", "p101"], at=2)
    figures = {}
    for name, series in (("waited", made), ("deferred", deferred)):
        found = list(attack_releases(series))
        figures[name] = [
            tuple(one.figures[name] for name in ("deferred", "waiting", "waited")) for one in found
        ]
    nobody = (None, None, None)
    assert figures["deferred"] == [nobody, (2, None, None), (2, None, None)]
    assert figures["waited"][:2] == [nobody, (None, 6, None)]
    assert figures["waited"][2][0] is None


def test_of_a_batch_that_waited_the_value_is_guessed_that_most_of_its_signatures_have():
    declared, first = contract(M_INVARIANCE | {"m": 3, "on_ineligible": "wait"}), crowd("abcde" * 4)
    later = first | crowd("a" * 10, 100)
    *_, last = attack_releases(released(declared, first, later, later | crowd("bcde" * 10, 200)))
    assert last.holds
    assert (last.figures["waited"], last.figures["guessed_waited"]) == (10, 1)


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "parameters",
    [
        {"on_ineligible": "wait"},
        {"m": 3, "on_ineligible": "counterfeit", "people_per_group": 2},
    ],
    ids=lambda parameters: parameters["on_ineligible"],
)
def test_no_release_that_is_not_refused_gives_somebody_away_by_absence(parameters, seed):
    rng, tables = np.random.default_rng(seed), []
    people = crowd(rng.choice(list("abcdefgh"), 40))
    for number in range(5):
        people = {
            name: str(rng.choice(list("abcdefgh"))) if number and rng.random() < 0.1 else value
            for name, value in people.items()
            if rng.random() < 0.9
        } | crowd(rng.choice(list("aaabcdefgh"), 8), 100 * (number + 1))
        tables.append(people)
    declared = contract(M_INVARIANCE | parameters, {"name": "value", "values": list("abcdefgh")})
    made = []
    for last in range(5, 0, -1):
        with suppress(NotEligible):
            made = released(declared, *tables[:last])
            break
    looked_at = [absence(found) for found in attack_releases(made)]
    assert all(row["holds"] for row in looked_at)
