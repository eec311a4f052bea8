"""Exact risk: Lemma 3 on random tiny series of ours, and what l-diversity leaves of it."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.coverage import value_domain
from republish.anonymize.attack.intersection import candidates, intersect
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats import GENERALIZATION, Published
from republish.anonymize.formats.published import knowledge_table
from tests.anonymize.attack.attack_series import attacked_people, contract, publish, snapshots
from tests.papers.disclosure_risk import disclosure_risk, instance_risk
from tests.papers.every_key import reconstructions
from tests.papers.surjections import posterior

VALUES = ["disease a", "disease b", "disease c", "disease d"]
SERIES = 30


def known(snapshots, declared):
    return pl.concat(
        knowledge_table(attacked_people(snapshot, declared), declared).with_columns(
            release=pl.lit(n, pl.Int64)
        )
        for n, snapshot in enumerate(snapshots, start=1)
    )


def tiny(seed):
    """Four to seven people over two or three releases, some returning; half of the series change a value."""
    rng = np.random.default_rng(seed)
    tables = list(
        snapshots(seed, int(rng.integers(4, 8)), int(rng.integers(2, 4)), rng.uniform(0.1, 0.6), VALUES)
    )
    if seed % 2:
        changed = tables[-1]["disease"].to_list()
        changed[0] = VALUES[(VALUES.index(changed[0]) + 1) % len(VALUES)]
        tables[-1] = tables[-1].with_columns(pl.Series("disease", changed))
    return tables


def _left(state):
    return candidates([state]).select("person", "value", "candidates").iter_rows()


@pytest.fixture(scope="module")
def ours():
    """Tables, contract and exact risks of the series that were published."""
    made = []
    for seed in range(SERIES):
        declared = contract(m=2 + seed % 3 // 2, values=VALUES)
        tables = tiny(seed)
        try:
            released = publish(tables, declared)
        except NotEligible:
            continue
        read = [GENERALIZATION.read(GENERALIZATION.internal(r.tables, declared), declared) for r in released]
        people = known(tables, declared)
        made.append((declared.principle.m, people, read, disclosure_risk(people, read, invariant=True)))
    return made


@pytest.mark.slow("counts every world")
def test_lemma_3_no_exact_risk_of_ours_is_above_1_over_m(ours):
    assert len(ours) > SERIES * 2 / 3
    assert all(max(risk.values()) <= Fraction(1, m) for m, _, _, risk in ours)
    # The bound is met with equality: it is a bound on something.
    assert any(max(risk.values()) == Fraction(1, m) for m, _, _, risk in ours)
    assert any(published.counterfeits.height for _, _, read, _ in ours for published in read)


@pytest.mark.slow("counts every world")
def test_lemma_2_every_reconstructed_value_is_a_candidate(ours):
    for _, people, read, _ in ours[:100]:
        domain = value_domain(pl.Series("value", VALUES))
        state = None
        for n, published in enumerate(read, start=1):
            state = intersect(people.filter(release=n), published, domain, n, state)
        left = {
            (person, value): {domain[bit] for bit in range(len(domain)) if bits >> bit & 1}
            for person, value, bits in stays(state)
        }
        found = posterior(reconstructions(people, read, invariant=False))
        assert all(values.keys() <= left[row] for row, values in found.items())
        # Candidates are values of one's own groups, so that the sets say something.
        assert all(row[1] in left[row] for row in left)


def stays(state):
    """A tuple's candidates over all its stays, as bits."""
    return state.group_by("person", "value").agg(pl.col("candidates_0").bitwise_and()).rows()


@pytest.mark.slow("takes more than a second")
def test_over_distinct_originals_the_share_can_be_above_1_over_m():
    # Lemma 3 counts surjections: an original that more of them rebuild counts more. Where several groups
    # cover the same people, counting each original once is another figure, and not bounded.
    declared, highest = contract(m=2, values=VALUES), []
    for seed in range(0, 20, 2):
        alike = {"age": pl.col("age") // 30 * 30, "zipcode": pl.lit(9000, pl.Int64)}
        tables = [table.with_columns(**alike) for table in tiny(seed)]
        try:
            released = publish(tables, declared)
        except NotEligible:
            continue
        read = [GENERALIZATION.read(GENERALIZATION.internal(r.tables, declared), declared) for r in released]
        everybody = known(tables, declared)
        assert max(disclosure_risk(everybody, read, invariant=True).values()) <= Fraction(1, 2)
        highest.append(max(instance_risk(everybody, read, invariant=True).values()))
    assert max(highest) > Fraction(1, 2)


@pytest.fixture(scope="module")
def l_diverse():
    """Small series that are 2-diverse release by release: who is in them, what is published, exact risks."""
    declared, made = contract(m=2, values=VALUES), []
    for seed in range(60):
        tables = list(snapshots(seed, 6, 2, 0.35, VALUES))
        if all(table["disease"].value_counts()["count"].max() * 2 <= len(table) for table in tables):
            read = [mondrian(attacked_people(table, declared), declared, 2) for table in tables]
            people = known(tables, declared)
            made.append((people, read, disclosure_risk(people, read, invariant=False)))
    return made


def test_l_diverse_releases_go_above_1_over_l_somewhere(l_diverse):
    assert any(max(risk.values()) == 1 for *_, risk in l_diverse)


def test_lemma_1_one_candidate_left_is_a_risk_of_one(l_diverse):
    seen = 0
    for people, read, risk in l_diverse:
        state = None
        for n, published in enumerate(read, start=1):
            state = intersect(
                people.filter(release=n), published, value_domain(pl.Series("value", VALUES)), n, state
            )
        for person, value, count in _left(state):
            if count == 1:
                seen += 1
                assert risk[person, value] == 1
    assert seen > 0


def group(values, low=0, high=9, counterfeits=0):
    return Published(
        pl.DataFrame({"group_id": [1], "age_low": [low], "age_high": [high]}),
        pl.Series("value", values)
        .value_counts(name="tuples")
        .with_columns(group_id=1)
        .select("group_id", "value", pl.col("tuples").cast(pl.Int64)),
        pl.DataFrame({"group_id": [1], "count": [counterfeits]}).filter(pl.col("count") > 0),
    )


def people(*rows):
    return pl.DataFrame(rows, schema=["release", "person", "value", "age"], orient="row")


def test_risk_in_one_group_is_the_share_of_the_value():
    risk = disclosure_risk(
        people((1, "a", "flu", 1), (1, "b", "flu", 2), (1, "c", "gout", 3)),
        [group(["flu", "flu", "gout"])],
        invariant=False,
    )
    assert risk == {("a", "flu"): Fraction(2, 3), ("b", "flu"): Fraction(2, 3), ("c", "gout"): Fraction(1, 3)}


def test_a_counterfeit_could_be_any_row_of_its_group():
    risk = disclosure_risk(
        people((1, "a", "flu", 1)), [group(["flu", "gout"], counterfeits=1)], invariant=False
    )
    assert risk == {("a", "flu"): Fraction(1, 2)}


def test_surjections_are_counted_not_tables():
    # Three tuples alike: 3! mappings rebuild the one table there is.
    everybody = people((1, "a", "flu", 1), (1, "b", "flu", 2), (1, "c", "flu", 3))
    assert list(reconstructions(everybody, [group(["flu"] * 3)], invariant=False).values()) == [6]


def test_what_can_t_have_been_published_of_these_people_is_refused():
    with pytest.raises(ValueError, match="no microdata of these people"):
        disclosure_risk(people((1, "a", "flu", 50)), [group(["flu"])], invariant=False)
