"""A value that appears for the first time says that somebody has it: nobody whose value changed alone."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest

import republish as rp
from republish.anonymize.buckets.counts import Counts
from republish.anonymize.buckets.first_seen import groups_of_changed
from republish.anonymize.buckets.separate import place_separated
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.errors import NotEligible

DISEASES = list("abcdefgh")
PRINCIPLES = (
    {"name": "m_invariance", "m": 3},
    {"name": "e_equivalence", "m": 3, "e": 2},
)


def contract(principle, keys=(), **sensitive):
    return rp.Contract.of(
        {
            "product": "first_seen",
            "identifier": "person",
            "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 110]}],
            "sensitive": {"name": "disease"} | sensitive,
            "principle": principle,
            **dict(keys),
        }
    )


def people(new=(), number=64):
    """People of eight diseases; those in `new` have one that nobody had before."""
    ages, diseases = [one * 37 % 90 for one in range(number)], [DISEASES[one % 8] for one in range(number)]
    has = ["new" if one in new else disease for one, disease in enumerate(diseases)]
    return pl.DataFrame({"person": range(number), "age": ages, "disease": has})


def second(declared, table):
    first = rp.release(people(), declared, date="2026-01-01")
    return rp.release(table, declared, first.state, date="2026-02-01")


def certain(release):
    """People who are known to have the new value: who alone are in groups that have it.

    The adversary knows that counterfeits have only values that somebody has, and everybody's group.
    """
    microdata = release.tables["microdata"]
    groups = microdata.filter(pl.col("disease") == "new").select("group_id").unique()
    among = release.linkage.join(groups, on="group_id", how="semi")
    return among.height if among.height == 1 else 0


@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda one: one["name"])
@pytest.mark.parametrize("changed", [{7}, {7, 15}])
def test_a_value_that_only_people_had_whose_value_changed_is_not_published(principle, changed):
    with pytest.raises(NotEligible, match="nobody else is known to have had"):
        second(contract(principle), people(changed))


def chances(release):
    """The probability of the new value for each person who may have it, over all assignments that fit.

    The adversary knows everybody's group, and that counterfeits have only values that somebody has: of the
    groups that have the new value, somebody in at least one has it.
    """
    tables = release.tables
    rows = tables["microdata"].with_columns(count=1) if "microdata" in tables else tables["sensitive"]
    groups = rows.filter(pl.col("disease") == "new")["group_id"].unique()
    worlds = []
    for group in groups:
        its = rows.filter(pl.col("group_id") == group)
        values = np.repeat(its["disease"], its["count"])
        among = release.linkage.filter(pl.col("group_id") == group)["person"].to_list()
        ways = permutations(values, len(among))
        worlds.append(
            Counter(tuple(p for p, v in zip(among, way, strict=True) if v == "new") for way in ways)
        )
    total, has = 0, Counter()
    for choice in product(*(world.items() for world in worlds)):
        ways = int(np.prod([number for _, number in choice]))
        if anybody := [person for people, _ in choice for person in people]:
            total += ways
            has.update(dict.fromkeys(anybody, ways))
    return {person: ways / total for person, ways in has.items()}


def many_people(new=(), changed=0):
    """People of 24 diseases; the first ones have that of somebody else by now, and some the new one."""
    has = [f"d{(one * 5 + (one < changed) * (one // 24 + 7)) % 24}" for one in range(240)]
    has = ["new" if one in new else disease for one, disease in enumerate(has)]
    return pl.DataFrame({"person": range(240), "age": [one * 37 % 90 for one in range(240)], "disease": has})


@pytest.mark.parametrize("new", [{2}, {2, 31}, {2, 31, 40, 41}])
def test_it_is_published_in_a_group_of_people_alone_whose_value_changed(new):
    declared = contract(PRINCIPLES[0], {"expect": {"counterfeits": 1.0, "changed": 1.0}})
    first = rp.release(many_people(), declared, date="2026-01-01")
    made = rp.release(many_people(new, 48), declared, first.state, date="2026-02-01")
    assert new <= chances(made).keys()
    assert max(chances(made).values()) <= 1 / 3 + 1e-9
    its = set(made.linkage.filter(pl.col("person").is_in(list(new)))["group_id"])
    assert its - set(made.tables["counterfeits"]["group_id"])


def test_the_attack_finds_the_person_who_is_alone_with_counterfeits():
    """Of three people who are each alone with counterfeits, each one has it with more than 1/m, too."""
    declared = contract(PRINCIPLES[0], {"expect": {"counterfeits": 1.0}}, values=[*DISEASES, "new", "newer"])
    assert max(chances(second(declared, people({7}))).values()) == 1


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("many", [2, 12])
def test_earlier_signatures_do_not_tell_whose_the_new_value_is(many):
    """An adversary who knows the algorithm looks at how many values are excluded: of 40, 2 or 12."""
    values, surplus, mixed = 40, 0.0, 0
    for run in range(500):
        draw = np.random.default_rng(run)
        value, forbidden = draw.integers(values, size=60), np.zeros((60, values + 1), bool)
        for one in range(60):
            others = np.delete(np.arange(values), value[one])
            forbidden[one, draw.choice(others, many if one % 2 else 2, replace=False)] = True
        holder = draw.integers(60)
        value[holder] = values
        counts = Counts(
            *(Signatures.none(values + 1), np.empty(0, int), np.zeros(values + 1, int)),
            *(value, forbidden, np.ones(60, int), np.arange(values + 1) == values),
        )
        (group,) = groups_of_changed(counts, 3, draw)
        assert len(set(value[group])) == 3
        assert not forbidden[np.ix_(group, value[group])].any()
        surplus += holder % 2 - np.mean(group % 2)
        mixed += len(set(group % 2)) == 2
    assert abs(surplus) < 0.1 * mixed  # so that nobody's probability is far above 1/3


def test_it_is_published_where_it_is_declared_because_it_may_be_a_counterfeit_s():
    made = second(contract(PRINCIPLES[0], values=[*DISEASES, "new", "newer"]), people({7}))
    assert made.candidate.figures.held_back == 0


def test_it_is_published_where_somebody_who_is_new_has_it():
    table = people({7}, 72).with_columns(
        disease=pl.when(pl.col("person") == 70).then(pl.lit("new")).otherwise("disease")
    )
    made = second(contract(PRINCIPLES[0]), table)
    assert certain(made) == 0


@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda one: one["name"])
def test_it_is_not_published_where_the_only_other_one_who_has_it_is_held_back(principle):
    """One new person is ineligible, so that somebody alone with counterfeits has the value, or they do."""
    table = people({7, 64}, 65)
    with pytest.raises(NotEligible, match="nobody else is known to have had"):
        second(contract(principle | {"on_ineligible": "wait"}), table)


def test_a_value_that_the_rows_of_one_person_alone_may_have_is_not_published_unless_it_is_declared():
    """Both rows of the fifth person have the new value, in groups in which all others are counterfeits."""
    principle = {"name": "m_invariance", "m": 2, "values_per_person": 1}
    keys = {"rows": "several", "row": "row", "expect": {"counterfeits": 1.0}}
    table = pl.DataFrame({"row": range(6), "person": [0, 1, 2, 3, 4, 4], "disease": [*"abcd", "new", "new"]})
    table = table.with_columns(age="row")
    with pytest.raises(NotEligible, match="1 values appear for the first time"):
        rp.release(table, contract(principle, keys), date="2026-01-01")
    rp.release(table, contract(principle, keys, values=[*DISEASES, "new"]), date="2026-01-01")


@pytest.mark.parametrize(
    ("on_value_change", "sensitive"),
    [
        ("separate", [{"name": "disease"}]),
        ("refuse", [{"name": "disease"}, {"name": "day"}]),
    ],
)
def test_whole_numbers_that_are_not_declared_are_published(on_value_change, sensitive):
    """Before the first release, nothing tells of which type values are."""
    principle = {"name": "m_invariance", "m": 3, "on_value_change": on_value_change}
    declared = contract(principle, {"sensitive": sensitive[0] if len(sensitive) == 1 else sensitive})
    table = people().with_columns(disease=pl.col("person") % 8, day=pl.col("person") // 8 % 8)
    table = table.select("person", "age", *(one["name"] for one in sensitive))
    first = rp.release(table, declared, date="2026-01-01")
    second = rp.release(table, declared, first.state, date="2026-02-01")
    for made in (first, second):
        assert made.tables["microdata"].height == 64


def test_two_groups_with_the_same_values_are_in_one_bucket():
    """Two have the new value, and two each of three others: signatures are m values of four."""
    value = np.array([3, 3, 0, 0, 1, 1, 2, 2])
    none = np.empty(0, int)
    for seed in range(50):
        counts = Counts(
            *(Signatures.none(4), none, np.zeros(4, int), value, np.zeros((8, 4), bool), np.ones(8, int)),
            unknown=np.arange(4) == 3,
        )
        placed = place_separated(counts, 3, np.random.default_rng(seed))
        signatures = np.split(placed.signatures.value, placed.signatures.first[1:])
        assert len({tuple(one) for one in signatures}) == len(signatures)
        assert sorted(np.repeat(placed.separated.queue, placed.separated.people)) == list(range(8))
