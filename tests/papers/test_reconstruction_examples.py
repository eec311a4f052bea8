"""Xiao and Tao, m-Invariance: Examples 2 to 5, Table 4, Figure 1, Definition 17 and Lemma 4."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.intersection import intersect
from republish.anonymize.attack.matching import covering_groups
from republish.anonymize.formats.published import Published
from tests.papers.disclosure_risk import disclosure_risk
from tests.papers.every_key import reconstructions
from tests.papers.invariance import check_invariance
from tests.papers.surjections import posterior
from tests.papers.test_attack_examples import (
    TABLE_1A,
    TABLE_1B,
    TABLE_2A,
    TABLE_2B,
    TABLE_3A,
    TABLE_3B,
    released,
    snapshots,
)

PEOPLE = snapshots(TABLE_1A, TABLE_2A)
T_1, T_2, T_3 = released(TABLE_1B), released(TABLE_2B), released(TABLE_3A, TABLE_3B)


def test_example_2_and_table_4_lifespans_and_counterfeits():
    domain, state = PEOPLE["value"].unique().sort(), None
    for number, published in enumerate((T_1, T_3), start=1):
        state = intersect(PEOPLE.filter(release=number).drop("release"), published, domain, number, state)
    lifespans = {
        person: (since, until) for person, since, until in state.select("person", "since", "until").rows()
    }
    assert len(lifespans) == 16
    assert lifespans["Bob"] == (1, 2)
    assert lifespans["Alice"] == lifespans["Helen"] == (1, 1)
    # The paper prints [2, 2] for David, who is in Table 1a as well.
    assert lifespans["David"] == (1, 2)
    assert lifespans["Emily"] == (2, 2)
    assert T_3.counterfeits.sort("group_id").rows() == [(1, 1), (3, 1)]  # c1 and c2


def test_example_3_and_figure_1a_a_reasonable_surjection_that_is_wrong_about_helen():
    possible = reconstructions(PEOPLE, [T_1, T_3], invariant=True)
    figure_1a = {
        (("Bob", "dyspepsia"), "dyspepsia"),
        (("Alice", "bronchitis"), "bronchitis"),
        (("Helen", "gastritis"), "flu"),
    }
    assert any(figure_1a <= instance for instance in possible)
    genuine = frozenset(
        ((person, value), value) for person, value in PEOPLE.select("person", "value").unique().rows()
    )
    assert genuine in possible


def test_example_4_and_figure_1b_nobody_has_two_values():
    # By T*(2) alone Bob may have gastritis, by T*(1) alone bronchitis: not by both.
    second = PEOPLE.filter(release=2).with_columns(release=pl.lit(1, pl.Int64))
    bob = ("Bob", "dyspepsia")
    assert posterior(reconstructions(second, [T_2], invariant=False))[bob].keys() == {
        "dyspepsia",
        "gastritis",
    }
    first = PEOPLE.filter(release=1)
    assert posterior(reconstructions(first, [T_1], invariant=False))[bob].keys() == {
        "dyspepsia",
        "bronchitis",
    }
    assert posterior(reconstructions(PEOPLE, [T_1, T_2], invariant=False))[bob] == {"dyspepsia": 1}


def test_example_4_and_figure_1c_everybody_has_one_tuple_in_each_release():
    possible = reconstructions(PEOPLE, [T_1, T_3], invariant=True)
    rows = set(PEOPLE.select("person", "value").unique().rows())
    assert all(sorted(row for row, _ in instance) == sorted(rows) for instance in possible)
    # Without Alice a tuple of T*(1) would be left over for Bob, who can't have two.
    with pytest.raises(ValueError, match="no microdata of these people"):
        disclosure_risk(PEOPLE.filter(pl.col("person") != "Alice"), [T_1, T_3], invariant=True)


def hosts(table, published):
    """The groups of the example cover each person once; where two do, the paper's group is named."""
    here = covering_groups(table.drop("release"), published).sort("group_id").unique("person", keep="first")
    return here.select("person", "group_id")


def found(releases, *, m=2):
    before, counts = None, []
    for number, published in enumerate(releases, start=1):
        table = PEOPLE.filter(release=number)
        one, before = check_invariance(table, hosts(table, published), published, m, number, before)
        counts.append(one)
    return counts


def test_tables_1b_and_3a_are_2_invariant_and_1b_and_2b_are_not():
    for one in found([T_1, T_3]):
        assert (one.too_few, one.repeating, one.moved) == (0, 0, 0)
    first, second = found([T_1, T_2])
    assert (first.too_few, first.repeating, second.too_few, second.repeating) == (0, 0, 0, 0)
    assert second.moved > 0  # Bob's {dyspepsia, bronchitis} has become {dyspepsia, gastritis}
    assert found([T_1, T_3], m=3)[1].too_few == 5


def random_hosting(rng, releases=4, people=6):
    """People with a value each in groups of three possible signatures; some away, most signatures kept."""
    kept = {person: int(rng.integers(0, 3)) for person in range(people)}
    series = []
    for _ in range(releases):
        table = {}
        for person in range(people):
            if rng.random() < 0.8:
                table[person] = kept[person] if rng.random() < 0.9 else int(rng.integers(0, 3))
        repeated = int(rng.integers(0, 3)) if rng.random() < 0.2 else None
        series.append((table, repeated))
    return series


SIGNATURES = ["ab", "bc", "abc"]


def is_m_invariant(series, m):
    """Definition 17, word for word."""
    for _, repeated in series:
        if repeated is not None or any(len(signature) < m for signature in SIGNATURES):
            return False
    people = {person for table, _ in series for person in table}
    for person in people:
        for (table, _), (after, _) in pairwise(series):
            if person in table and person in after and table[person] != after[person]:
                return False
    return True


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_lemma_4_if_and_only_if(seed):
    series = random_hosting(np.random.default_rng(seed))
    before, kept = None, []
    for table, repeated in series:
        values = [
            (group, value, 2 if group == repeated else 1)
            for group, signature in enumerate(SIGNATURES)
            for value in signature
        ]
        published = Published(
            pl.DataFrame({"group_id": [0, 1, 2]}),
            pl.DataFrame(values, schema=["group_id", "value", "tuples"], orient="row"),
            pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
        )
        here = pl.DataFrame(
            {"person": list(table), "value": ["b"] * len(table), "group_id": list(table.values())},
            schema={"person": pl.Int64, "value": pl.String, "group_id": pl.Int64},
        )
        one, before = check_invariance(here, here, published, 2, len(kept) + 1, before)
        kept.append(one.too_few == one.repeating == one.moved == 0)
        # Up to here: the releases before kept it and this one does, if and only if all of them together do.
        assert all(kept) == is_m_invariant(series[: len(kept)], 2)
