"""What is true of every release of the streamliner."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from benchmarks.adversaries.every_table import is_l_diverse
from benchmarks.measures.penalties import least_discernibility
from republish.anonymize.errors import NotEligible, SnapshotError
from republish.anonymize.principle.state import State
from republish.anonymize.principles import PRINCIPLES, parse_contract
from republish.anonymize.streamliner.candidates import _sorted_by, gda, rda, ria
from republish.anonymize.streamliner.partition import minimal_partition
from republish.anonymize.streamliner.release import weighted_rank
from republish.anonymize.utility.discernibility import discernibility
from tests.anonymize.streamliner.streamliner_tables import draws, eligible_tables, make_contract, people, run
from tests.attacks import attack_releases
from tests.clinic import CLINIC
from tests.papers.streamliner_conditions import Proposal, theorem_2_faults
from tests.papers.streamliner_definitions import (
    LCandidate,
    is_self_contained,
    minimal_self_contained,
    satisfies_l_cover,
    satisfies_theorem_2,
)

METHODS = ["ria", "rda", "gda"]
STREAMLINER = PRINCIPLES["streamliner"]


def rotations(group, l):
    """The bijections of disjoint groups: each identifier to the u-th after it (Table 6, lines 19 to 22)."""
    images = np.empty((len(group), l - 1), np.int32)
    for number in np.unique(group):
        members = np.flatnonzero(group == number)
        for u in range(1, l):
            images[members, u - 1] = np.roll(members, -u)
    return images


def proposal(images, color):
    """The candidates of each color that bijections lead to."""
    identifiers, candidates = images.shape
    owner, number = np.repeat(color, candidates), np.tile(np.arange(candidates), identifiers)
    return Proposal(owner, number, images.ravel())


def bijections(method, table, l, seed):
    """The images of every person, and their colors."""
    rng = np.random.default_rng(seed)
    color = table["value"].rank("dense").cast(pl.Int64).to_numpy() - 1
    ranks = rng.permutation(len(color)).astype(np.uint64)
    if method == "ria":
        return ria(color, ranks, l, rng), color
    if method == "rda":
        return rotations(rda(color, ranks, l), l), color
    return rotations(gda(color, ranks, table["qi_0"].cast(pl.Float64).to_numpy(), l), l), color


def in_the_papers_words(images, color):
    """The same as l-candidates, one per color, and the table."""
    table = dict(enumerate(color.tolist()))
    candidates = []
    for value in np.unique(color):
        members = np.flatnonzero(color == value)
        f = [
            dict(zip(members.tolist(), images[members, u].tolist(), strict=True))
            for u in range(images.shape[1])
        ]
        candidates.append(LCandidate(frozenset(members.tolist()), tuple(f)))
    return candidates, table


def as_partition(group):
    return frozenset(frozenset(np.flatnonzero(group == number).tolist()) for number in np.unique(group))


@settings(max_examples=60)
@given(eligible_tables(most_people=25), st.sampled_from(METHODS), st.integers(0, 2**32))
def test_candidates_meet_theorem_2_and_their_partition_is_minimal_l_diverse_and_an_l_cover(
    case, method, seed
):
    l, table = case
    images, color = bijections(method, table, l, seed)
    candidates, values = in_the_papers_words(images, color)
    assert not theorem_2_faults(proposal(images, color), color, l)
    assert all(satisfies_theorem_2(candidate, values) for candidate in candidates)

    group = minimal_partition(images)
    partition = as_partition(group)
    assert partition == minimal_self_contained(candidates)
    assert is_self_contained(partition, candidates)
    assert (group[images] == group[:, None]).all()
    assert all(is_l_diverse(members, values, l) for members in partition)
    assert satisfies_l_cover(candidates, [partition], values)
    assert satisfies_l_cover(candidates, [partition, frozenset([frozenset(values)])], values)


@settings(max_examples=60)
@given(eligible_tables(), st.sampled_from(["rda", "gda"]), st.integers(0, 2**32))
def test_groups_of_rda_and_gda_are_the_minimal_partition_of_distinct_values(case, method, seed):
    """Those of GDA are of the least discernibility where no group needs more than one color more."""
    l, table = case
    images, color = bijections(method, table, l, seed)
    group = minimal_partition(images)
    assert len(np.unique(group)) == len(color) // l
    assert len(np.unique(group * len(color) + color)) == len(color)
    sizes, least = np.bincount(group), least_discernibility(np.bincount(color), l)
    assert discernibility(sizes) >= least
    if method == "gda" and np.ptp(sizes) <= 1:
        assert discernibility(sizes) == least


@pytest.mark.slow("takes more than a second")
@settings(max_examples=60)
@given(
    eligible_tables(),
    st.sampled_from(["ria", "rda", "gda"]),
    st.sampled_from([(0, 0), (10, 2), (30, 5)]),
    st.randoms(use_true_random=False),
)
def test_every_release_is_l_diverse_and_the_order_of_arrival_decides_nothing(case, method, widths, random):
    l, table = case
    contract = make_contract(widths=widths, l=l, method=method)
    candidate = run(table, contract)
    order = list(range(table.height))
    random.shuffle(order)
    shuffled = run(table[order], contract)
    for name, published in candidate.published.items():
        assert published.equals(shuffled.published[name])
    assert candidate.linkage.sort("pseudonym").equals(shuffled.linkage.sort("pseudonym"))

    (attacked,) = attack_releases([(contract, table, candidate)])
    assert attacked.holds
    found = attacked.tables
    assert set(found) == {
        *("signature_invariance", "largest_share", "coverage", "counterfeits", "minimum_widths")
    }
    assert found["largest_share"]["share"].max() <= 1 / l
    assert found["coverage"]["uncovered"].sum() == 0
    assert found["minimum_widths"]["narrower"].sum() == 0
    assert found["counterfeits"].select("wrong_counts", "held_back", "strangers").row(0) == (0, 0, 0)
    assert candidate.figures.people == candidate.figures.tuples == table.height
    assert candidate.published["counterfeits"].is_empty()


def test_the_checker_finds_each_fault_of_a_proposal():
    color = np.array([0, 0, 1, 1, 2, 2])

    def faults(*sets):
        """Of the candidates of color 0, for l = 3; those of the others are right."""
        right = {1: ((0, 1), (4, 5)), 2: ((0, 1), (2, 3))}
        rows = [
            (owner, number, member)
            for owner, chosen in ({0: sets} | right).items()
            for number, members in enumerate(chosen)
            for member in members
        ]
        return theorem_2_faults(Proposal(*map(np.array, zip(*rows, strict=True))), color, 3)

    assert not faults((2, 3), (4, 5))
    assert not faults((2, 5), (4, 3))
    assert faults((2,), (4, 5)).wrong_size == 1
    assert faults((2, 0), (4, 5)).own_color == 1
    assert faults((2, 3), (3, 5)).shared == 1
    wide = np.array([0, 1, 1, 1])
    rows = [(0, 0, 1), (0, 1, 2), (1, 0, 0)]
    assert theorem_2_faults(Proposal(*map(np.array, zip(*rows, strict=True))), wide, 3).too_many == 1


def test_a_group_that_is_not_l_diverse_is_counted():
    contract = make_contract(l=2)
    table = people([1, 2, 3, 4], [1, 1, 1, 1], ["a", "a", "b", "b"])
    candidate = run(table, contract)
    broken = candidate.published["microdata"].with_columns(disease=pl.Series(["a", "a", "b", "b"]))
    published = candidate.published | {"microdata": broken}
    (attacked,) = attack_releases([(contract, table, replace(candidate, published=published))])
    assert attacked.tables["largest_share"]["too_large"].sum() == 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("l", "values"),
    [
        (2, ["a"]),
        (2, ["a", "a"]),
        (2, ["a"] * 9),
        (3, ["a", "b", "a", "b"]),
        (4, ["a", "b", "c"] * 5),
        (2, ["a", "a", "a", "b", "c"]),
        (2, []),
    ],
)
def test_a_table_that_is_not_eligible_is_refused_in_a_line_without_values(method, l, values):
    table = people(list(range(len(values))), [1] * len(values), pl.Series(values, dtype=pl.String))
    with pytest.raises(NotEligible) as refused:
        run(table, make_contract(l=l, method=method))
    assert "\n" not in str(refused.value)
    assert "a share" not in str(refused.value).replace("of them share", "")


@pytest.mark.parametrize("method", METHODS)
def test_fewer_than_2_l_people_and_identical_quasi_identifiers_are_released_soundly(method):
    table = people([7] * 5, [3] * 5, ["a", "b", "c", "d", "e"])
    candidate = run(table, make_contract(l=3, method=method))
    assert candidate.figures.groups == 1
    assert candidate.published["microdata"].select("age_low", "age_high").unique().row(0) == (7, 7)


def test_null_and_undeclared_values_are_refused():
    with pytest.raises(SnapshotError):
        run(people([1, 2], [1, 1], ["a", None]), make_contract())
    with pytest.raises(SnapshotError):
        run(people([1, 2], [1, 1], ["a", "c"]), make_contract(values=["a", "b"]))


def test_a_second_release_is_refused_with_the_way_out():
    table = people([1, 2], [1, 1], ["a", "b"])
    first = run(table, make_contract())
    assert not first.state.tables
    with pytest.raises(NotEligible, match="then: m_invariance"):
        run(table, make_contract(), state=first.state, number=2)


@pytest.mark.parametrize("dtype", [pl.String, pl.Int64])
def test_the_same_key_gives_the_same_release_and_another_key_another(dtype):
    values = pl.Series([n % 4 for n in range(40)]).cast(dtype)
    table = people(list(range(40)), [n % 10 for n in range(40)], values)
    for method in METHODS[1:]:
        contract = make_contract(l=3, method=method)
        first, again, other = (run(table, contract, key) for key in (b"k", b"k", b"other"))
        assert first.published["microdata"].equals(again.published["microdata"])
        assert first.linkage.equals(again.linkage)
        assert not first.linkage.equals(other.linkage)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"l": 1}, r"l \(1\) must be at least 2"),
        ({"l": True}, "valid integer"),
        ({"l": 2, "method": "rda", "weights": {"age": 2}}, "does not look at quasi-identifiers"),
        ({"l": 2, "weights": {"age": -1}}, "must be between 0"),
        ({"l": 2, "weights": {"age": 2**31}}, "must be between 0"),
        ({"l": 2, "method": "ria", "then": "m_invariance"}, "groups of distinct values"),
        ({"l": 2, "on_ineligible": "wait"}, "there are none without then"),
        ({"l": 2, "then": "streamliner"}, "m_invariance"),
        ({"l": 2, "m": 2}, "not permitted"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        STREAMLINER.parameters.model_validate({"name": "streamliner", **wrong})


def test_the_least_and_the_largest_weight_are_weights():
    weights = {"age": 0, "income": 2**31 - 1}
    given = {"name": "streamliner", "l": 2, "weights": weights}
    assert STREAMLINER.parameters.model_validate(given).weights == weights


@pytest.mark.parametrize("most", [9, 2**16 - 1, 2**16, 2**17])
def test_people_are_sorted_by_any_number_of_values_and_stay_in_order_among_equals(most):
    key, order = np.array([most, 3, most, 0]), np.array([2, 1, 0, 3])
    assert _sorted_by(key, order).tolist() == [3, 1, 2, 0]


def test_intervals_do_not_depend_on_the_unit_of_a_quasi_identifier():
    rng = np.random.default_rng(3)
    ages, towns = rng.integers(0, 100, 2000), rng.integers(0, 10, 2000)
    values = [f"v{value:02}" for value in rng.integers(0, 12, 2000)]
    contract = make_contract(l=4)
    age, town = contract.quasi_identifiers
    finer = age.model_copy(update={"domain": (0, 99 * UNIT)})
    in_other_units = contract.model_copy(update={"quasi_identifiers": (finer, town)})
    plain = run(people(ages, towns, values), contract).published["microdata"]
    large = run(people(ages * UNIT, towns, values), in_other_units).published["microdata"]
    assert_frame_equal(large.with_columns(pl.col("age_low", "age_high") // UNIT), plain)


UNIT = 1024
"""A power of two: shares of the domain are the same numbers to the last bit."""


def test_l_above_the_number_of_values_and_weights_of_no_column_are_faults_of_the_contract():
    with pytest.raises(AssertionError):
        make_contract(values=["a", "b"], l=3)
    contract = make_contract(values=["a", "b"])
    update = {"principle": contract.principle.model_copy(update={"l": 3, "weights": {"zip": 1}})}
    found = STREAMLINER.faults(contract.model_copy(update=update))
    assert [key for key, _ in found] == ["principle.l", "principle.weights"]
    assert "sensitive.values lists 2" in found[0][1]
    update["principle"] = contract.principle.model_copy(
        update={"weights": {"zip": 1}, "then": "m_invariance"}
    )
    assert [key for key, _ in STREAMLINER.faults(contract.model_copy(update=update))] == ["principle.weights"]


def test_ranks_are_positions_in_the_domain_from_0_to_1():
    declared = {
        **CLINIC,
        "quasi_identifiers": [{"name": "year", "kind": "number", "domain": [1950, 2000]}],
        "sensitive": {"name": "disease"},
        "principle": {"name": "streamliner", "l": 2},
    }
    years = pl.DataFrame({"qi_0": [1950, 1960, 2000]})
    assert weighted_rank(years, parse_contract(declared)).tolist() == [0, 0.2, 1]


def test_groups_are_counted_and_the_largest_of_them_is_measured():
    made = run(people([20, 30, 40, 50, 60, 70, 80], [1] * 7, list("ababcab")), make_contract(l=2))
    sizes = made.linkage["group_id"].value_counts()["count"]
    assert (made.figures.groups, made.figures.largest_group) == (len(sizes), sizes.max()) == (3, 3)
    assert made.figures.values == 3


def test_a_quasi_identifier_without_a_weight_has_the_weight_1():
    codes = pl.DataFrame({"qi_0": [0, 50, 99], "qi_1": [9, 3, 0]})
    names = [qi.name for qi in make_contract().quasi_identifiers]
    ranks = [
        weighted_rank(codes, make_contract(weights=weights)).tolist()
        for weights in ({}, {names[0]: 1}, {names[1]: 1}, dict.fromkeys(names, 1), {names[0]: 2})
    ]
    assert ranks[0] == ranks[1] == ranks[2] == ranks[3] != ranks[4]


def test_draws_are_named_by_their_purpose_alone():
    asked = []

    def draw(purpose):
        asked.append(purpose)
        return draws()(purpose)

    STREAMLINER.release(people([1, 2], [1, 1], ["a", "b"]), make_contract(), State.empty(), 1, draw)
    assert asked == ["candidates"]


def test_a_large_weight_of_a_large_domain_orders_people_as_their_values_are():
    declared = {
        **CLINIC,
        "quasi_identifiers": [{"name": "balance", "kind": "number", "domain": [0, 10**15]}],
        "sensitive": {"name": "disease"},
        "principle": {"name": "streamliner", "l": 2, "weights": {"balance": 2**31 - 1}},
    }
    balances = pl.DataFrame({"qi_0": [0, 10**9, 10**10, 10**12, 10**15]})
    ranks = weighted_rank(balances, parse_contract(declared)).tolist()
    assert ranks == sorted(ranks)
    assert ranks[-1] == pytest.approx(2**31 - 1)
