"""Two features in one contract: it is refused, or every promise holds against code that shares nothing."""

from collections import Counter
from itertools import combinations

import polars as pl
import pytest

from benchmarks.pairs.features import covering, pairs
from benchmarks.pairs.oracle import Group, Series, assignments
from benchmarks.pairs.page import PAGE, matrix, refusals
from benchmarks.pairs.people import People
from benchmarks.pairs.worlds import release_series, release_without_refusals
from tests.once import what_is_met_is_seen_without_asking  # noqa: F401 - a fixture of every test below

MOST = 7
"""Features in one contract."""
PARTS = 6
"""So many tests share the contracts."""


def test_the_page_says_which_pairs_a_contract_keeps_and_why_it_refuses_the_others():
    written = PAGE.read_text()
    assert "\n".join((*matrix(), *refusals())) in written
    assert written.splitlines()[-1].split("|")[-2].strip() == "0"


@pytest.mark.slow("reads hundreds of contracts")
def test_every_pair_that_is_kept_stands_in_a_contract():
    standing = {frozenset(two) for one in covering(MOST) for two in combinations(one.features, 2)}
    assert {frozenset(pair.features) for pair in pairs() if pair.is_kept} <= standing


@pytest.mark.slow("releases a series of each contract")
@pytest.mark.parametrize("part", range(PARTS))
def test_features_together_keep_every_promise(part, monkeypatch):
    """One in six of the contracts in which every pair stands."""
    monkeypatch.delenv("REPUBLISH_KEY", raising=False)
    for together in covering(MOST)[part::PARTS]:
        people, releases = (40, 3) if together.takes_a_home else (12, 4)
        told = release_without_refusals(together, seed=5, people=people, releases=releases)
        assert told.faults == Counter(), together.name
        refused = told.refused["ValueChangeRefused"]
        assert told.is_whole or (together.ends_early and refused), together.name


def series(*releases, columns=("d",), known=(), threshold=2, breach=False):
    """A series: of each release, by group, its values and its people, who have the first of these values."""
    made = Series(columns, known, breach, threshold)
    for groups in releases:
        rows = [(g, 1, 1, "A", "A", v) for g, (values, _) in groups.items() for v in values]
        table = pl.DataFrame(
            rows, ["group_id", "age_low", "age_high", "town_low", "town_high", "d"], orient="row"
        )
        fakes = [(g, len(values) - len(who)) for g, (values, who) in groups.items() if len(values) > len(who)]
        linkage = [(one, g) for g, (_, who) in groups.items() for one in who]
        truth = [
            (one, 1, "A", v) for values, who in groups.values() for one, v in zip(who, values, strict=False)
        ]
        made.add(
            {
                "microdata": table,
                "counterfeits": pl.DataFrame(fakes, {"group_id": int, "count": int}, orient="row"),
            },
            pl.DataFrame(linkage, {"person": str, "group_id": int}, orient="row"),
            pl.DataFrame(truth, {"person": str, "age": int, "town": str, "d": str}, orient="row"),
            several=False,
        )
    return made


FINE = {1: (("flu", "gout"), "ab"), 2: (("flu", "gout"), "cd")}


def test_the_oracle_acquits_releases_that_keep_their_promises():
    assert not {*series(FINE, FINE).faults()}
    assert not {*series({1: (("flu", "gout"), "a")}).faults()}


@pytest.mark.parametrize(
    ("releases", "says"),
    [
        (({1: (("flu", "gout"), "ab"), 2: (("flu", "gout"), "a")},), "somebody is published twice"),
        (({1: (("flu", "gout", "flu"), "abc")},), "a value is more frequent in a group than promised"),
        (({1: (("flu", "flu"), "ab")},), "a group has fewer values than promised"),
        ((FINE, {1: (("flu", "acne"), "ax")}), "a person's candidates shrink from release to release"),
    ],
)  # fmt: skip
def test_the_oracle_convicts_what_breaks_a_promise(releases, says):
    assert says in {*series(*releases).faults()}


def test_the_oracle_counts_assignments_over_all_releases():
    """Groups of flu and gout: a is with b, and then with c. So b and c are alike, and each may have both."""
    groups = [{1: group("ab"), 2: group("cd")}, {1: group("ac"), 2: group("bd")}]
    total, having = assignments(groups)
    assert total == 2
    assert {having[one, 0, "flu"] for one in "abcd"} == {1}


def test_the_oracle_counts_a_value_that_is_published_twice_as_often():
    total, having = assignments(
        [{1: Group((("flu",), ("none",), ("none",)), 0, ({},), (("a",), ("b",), ("c",)))}]
    )
    assert (total, having["a", 0, "none"], having["a", 0, "flu"]) == (6, 4, 2)


def test_what_is_true_is_in_the_group_or_the_oracle_says_so():
    made = series(FINE)
    made.truths[-1]["a",]["d"] = "acne"
    assert {*made.faults()} == {"somebody's value is not in their group"}
    made = series(FINE)
    made.truths[-1]["a",]["age"] = 2
    assert {*made.faults()} == {"somebody's quasi-identifiers are not in their group"}


@pytest.mark.slow("takes more than a second")
def test_a_publisher_who_forgets_the_earlier_releases_is_convicted(monkeypatch):
    monkeypatch.setattr("benchmarks.pairs.worlds._InMemory.remembers", False)
    pair = next(pair for pair in pairs() if pair.name == "people_per_group and Anatomy")
    told = release_series(pair, seed=4, people=40, releases=3)
    assert told.faults["a person's candidates shrink from release to release"]


def test_people_are_the_same_for_the_same_seed():
    one, other = (People(3, 20, changing=0.2).snapshots(3) for _ in range(2))
    assert all(a.equals(b) for a, b in zip(one, other, strict=True))


def group(people):
    """A group of flu and gout."""
    return Group((("flu",), ("gout",)), 0, ({},), tuple((one,) for one in people))
