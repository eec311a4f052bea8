"""People of one household, who share a value and are known to: attacked by intersecting their groups."""

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from benchmarks.series import contract_of, released
from republish.anonymize.errors import ContractError, NotEligible
from tests.worlds import released_once, shares

VALUES = [f"v{number}" for number in range(12)]
M = 3
DECLARED = {
    "product": "flats",
    "series": "v1",
    "source": {"path": "{release}.csv"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
    "sensitive": {"name": "disease", "values": VALUES},
}
APART = {"identifier": "person", "principle": {"name": "m_invariance", "m": M, "on_ineligible": "wait"}}
TOGETHER = {
    "identifier": "household",
    "rows": "several",
    "row": "person",
    "principle": APART["principle"] | {"values_per_person": 2},
}


def series(seed, releases=3, households=40):
    """Households of one to three people, who share a value, or of whom one has another; they come and go."""
    rng = np.random.default_rng(seed)
    people = [
        {
            "person": f"h{home}-{member}",
            "household": f"h{home}",
            "age": int(rng.integers(0, 100)),
            "disease": VALUES[home % len(VALUES) if member < 2 else (home + 1) % len(VALUES)],
        }
        for home in range(households)
        for member in range(rng.integers(1, 4))
    ]
    for number in range(releases):
        here = [one for one in people if rng.random() < 0.8]
        yield f"2024-0{number + 1}-01", pl.DataFrame(here)


def seen(seed, keys):
    """The groups that each person was in, a pair of release and number each; and what each group has."""
    contract, snapshots = contract_of({**DECLARED, **keys}), list(series(seed))
    groups, values = defaultdict(set), defaultdict(set)
    for number, one in enumerate(released(snapshots, contract)):
        person = "row_name" if "row" in keys else "identifier"
        linked = one.people.join(one.candidate.linkage, on="pseudonym").select(person, "group_id")
        for who, group in linked.rows():
            groups[who].add((number, group))
        for row in one.candidate.published["microdata"].rows(named=True):
            values[number, row["group_id"]].add(row["disease"])
    true = {row["person"]: row for _, table in snapshots for row in table.rows(named=True)}
    return groups, values, true


def left(seed, keys):
    """For each household and value of it, those that its people who share it may have: an intersection."""
    groups, values, true = seen(seed, keys)
    possible = {}
    for who, where in groups.items():
        shared = (true[who]["household"], true[who]["disease"])
        for group in where:
            possible[shared] = possible.get(shared, values[group]) & values[group]
    return possible


@pytest.mark.parametrize("seed", range(4))
def test_people_who_are_released_by_person_are_convicted(seed):
    assert min(map(len, left(seed, APART).values())) < M


@pytest.mark.parametrize("seed", range(4))
def test_people_who_are_released_by_household_keep_m_values_that_they_may_share(seed):
    possible = left(seed, TOGETHER)
    assert len(possible) > 40
    assert min(map(len, possible.values())) >= M
    assert all(disease in candidates for (_, disease), candidates in possible.items())


def test_a_household_is_no_key_and_the_refusal_says_how_to_write_it():
    with pytest.raises(ContractError) as refused:
        contract_of({**DECLARED, **APART, "household": "household"})
    (fault,) = refused.value.faults
    assert fault[0] == "household"
    assert "rows: several, the household as identifier and the person as row, with m-invariance" in fault[1]
    assert contract_of({**DECLARED, **TOGETHER}).row == "person"


@pytest.mark.parametrize("seed", range(4))
def test_two_people_of_a_household_are_never_in_one_group(seed):
    """Whatever values they have, also if one comes later with a value of another one's signature."""
    groups, _, true = seen(seed, TOGETHER)
    stands = [(group, true[who]["household"]) for who, where in groups.items() for group in where]
    assert len(stands) == len(set(stands)) > 100


def test_somebody_who_moves_is_known_by_two_households():
    """Why a household has to be one for good: signatures of two households may have one value in common."""
    narrowed = []
    for seed in range(6):
        groups, values = defaultdict(set), {}
        contract, snapshots = contract_of({**DECLARED, **TOGETHER}), list(series(seed, releases=2))
        date, later = snapshots[1]
        moved = pl.col("household") + pl.when(pl.col("person").str.ends_with("-0")).then(
            pl.lit("x")
        ).otherwise(pl.lit(""))
        snapshots[1] = (date, later.with_columns(household=moved))
        for number, one in enumerate(released(snapshots, contract)):
            microdata = one.candidate.published["microdata"]
            has = dict(microdata.group_by("group_id").agg("disease").rows())
            for who, group in (
                one.people.join(one.candidate.linkage, on="pseudonym").select("row_name", "group_id").rows()
            ):
                groups[who].add((number, group))
                values[number, group] = set(has[group])
        narrowed += [
            len(set.intersection(*(values[one] for one in where)))
            for who, where in groups.items()
            if who.endswith("-0") and len(where) == 2
        ]
    assert min(narrowed) < M


def test_whoever_sees_the_signatures_of_a_first_release_sees_who_shares_a_value():
    """What is not kept: of two people of a household with one signature, each knows the other's value."""
    contract, (first, *_) = contract_of({**DECLARED, **TOGETHER}), list(series(1))
    (one,) = released([first], contract)
    has = one.candidate.published["microdata"].group_by("group_id").agg(signature=pl.col("disease").sort())
    people = one.people.join(one.candidate.linkage, on="pseudonym").join(has, on="group_id")
    homes = people.group_by("identifier").agg(pl.col("value", "signature").n_unique(), pl.len())
    assert homes.filter(len=3)["value"].max() == 2
    assert (homes["value"] == homes["signature"]).all()


TINY = {**DECLARED, "sensitive": {"name": "disease", "values": VALUES[:4]}}
OF_TINY = {"m": 2, "on_ineligible": "refuse"}
TINY_TOGETHER = TINY | TOGETHER | {"principle": APART["principle"] | OF_TINY | {"values_per_person": 1}}
TINY_APART = TINY | APART | {"principle": APART["principle"] | OF_TINY}
TABLES = [
    [VALUES[one] for one in given]
    for given in itertools.product(range(4), repeat=6)
    if list(dict.fromkeys(given)) == [*range(len({*given}))]
]
"""Every value of each of six households but for the names of the values: each is the first that is not used.

What is released follows from names of values only by draws. `benchmarks/adversaries/households.py` has names.
"""


def tiny(values):
    """Two people of each of four households; then one has left, two have come, and somebody was born."""
    people = [
        (f"h{home}", f"h{home}-{member}", (home * 13 + member * 31) % 97, value)
        for home, value in enumerate(values)
        for member in range(2)
    ]
    born = ("h1", "h1-2", 0, values[1])
    for date, here in (("2024-01-01", people[:8]), ("2024-02-01", [*people[2:], born])):
        yield date, pl.DataFrame(here, ["household", "person", "age", "disease"], orient="row")


def groups_of(values, contract, key, made):
    """For each group of a tiny series: who is in it, as `(household, person)`, and its values."""
    groups = []
    for one in released_once(made, tiny(values), contract, key):
        person = "row_name" if contract.rows == "several" else "identifier"
        linked = one.people.join(one.candidate.linkage, on="pseudonym").select(person, "group_id")
        microdata = one.candidate.published["microdata"].select("group_id", "disease")
        for group in microdata["group_id"].unique():
            names = linked.filter(group_id=group)[person].to_list()
            held = microdata.filter(group_id=group)["disease"].to_list()
            groups.append(([(name.partition("-")[0], name) for name in names], held))
    return groups


def published(contract, tables, keys):
    """The values and groups of these tables under each of so many keys, as far as they are eligible."""
    made = {}
    for values in tables:
        try:
            for key in range(keys):
                yield values, groups_of(values, contract, f"{key} {values[:4]}".encode(), made)
        except NotEligible:
            continue


@pytest.mark.slow("takes more than a second")
def test_by_counting_every_world_no_household_has_a_value_with_more_than_one_in_m():
    """Whoever knows all groups, who lives together, and that they share."""
    tables, keys = TABLES[::4], 2
    seen = 0
    for values, groups in published(contract_of(TINY_TOGETHER), tables, keys):
        homes = [([home for home, _ in people], held) for people, held in groups]
        assert all(len(set(people)) == len(people) for people, _ in homes)  # never in one group
        found = shares(homes)
        assert all((f"h{home}", value) in found for home, value in enumerate(values))
        assert max(found.values()) <= Fraction(1, 2)
        seen += 1
    assert seen > len(tables) * keys / 5


def test_by_counting_every_world_people_who_are_released_by_person_are_given_away():
    """The same adversary, where each has a signature: of some households a single value is left."""
    worst = [
        max(shares([([home for home, _ in people], held) for people, held in groups]).values())
        for _, groups in published(contract_of(TINY_APART), TABLES[::6], 1)
    ]
    assert sum(one > Fraction(1, 2) for one in worst) > len(worst) / 2
    assert 1 in worst
