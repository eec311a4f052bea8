"""Liu and Wang, Privacy streamliner, CODASPY 2012: the motivating example and Examples 1 to 5."""

from fractions import Fraction

import pytest

from benchmarks.adversaries.every_table import all_partitions
from tests.papers.streamliner_definitions import (
    LCandidate,
    all_tables,
    are_candidates,
    colors,
    family_set,
    highest_ratio,
    is_cover,
    is_globally_safe,
    is_l_eligible,
    is_self_contained,
    is_strongly_globally_safe,
    largest_share,
    locally_safe_set,
    mental_image,
    minimal_self_contained,
    safe_sets,
    satisfies_l_cover,
    satisfies_theorem_2,
)


def partition(*groups):
    return frozenset(frozenset(group.split()) for group in groups)


PEOPLE = ["Ada", "Bob", "Coy", "Dan", "Eve"]
T0 = dict(zip(PEOPLE, ["flu", "flu", "cold", "cold", "HIV"], strict=True))
DISCLOSURE = [
    dict(zip(PEOPLE, values.split(), strict=True))
    for values in (
        "flu flu cold cold HIV",
        "cold cold flu flu HIV",
        "flu flu cold HIV cold",
        "cold cold flu HIV flu",
        "flu HIV cold cold flu",
        "cold HIV flu flu cold",
        "flu flu HIV cold cold",
        "cold cold HIV flu flu",
        "HIV flu cold cold flu",
        "HIV cold flu flu cold",
    )
]
"""t01 to t10 of Table 1."""
P = {
    1: partition("Ada Coy", "Bob Dan Eve"),
    2: partition("Ada Dan", "Bob Coy Eve"),
    3: partition("Ada Eve", "Bob Coy Dan"),
    4: partition("Bob Coy", "Ada Dan Eve"),
    5: partition("Bob Dan", "Ada Coy Eve"),
    6: partition("Bob Eve", "Ada Coy Dan"),
    7: partition("Coy Eve", "Ada Bob Dan"),
    8: partition("Dan Eve", "Ada Bob Coy"),
    9: partition("Ada Bob Coy Dan Eve"),
}
TWO_THIRDS = largest_share(Fraction(2, 3))


def image(*known, released=None):
    found = mental_image(T0, [P[number] for number in known], TWO_THIRDS, released and P[released])
    return sorted(DISCLOSURE.index(table) + 1 for table in found)


def test_table_1_has_nine_locally_safe_partitions():
    assert len(list(all_partitions(PEOPLE))) == 52
    assert set(locally_safe_set(T0, TWO_THIRDS)) == set(P.values())


def test_table_1_knowing_the_locally_safe_set_leaves_two_tables_and_gives_eve_away():
    assert image(*P) == [1, 2]
    assert not is_globally_safe(T0, P.values(), TWO_THIRDS, Fraction(2, 3))
    assert highest_ratio(DISCLOSURE[:2]) == 1


def test_table_1_without_p7_four_tables_are_possible():
    known = [number for number in P if number != 7]
    assert image(*known) == [1, 2, 3, 4]
    assert is_globally_safe(T0, [P[number] for number in known], TWO_THIRDS, Fraction(1, 2))


def test_table_1_a_release_with_p3_still_gives_ada_and_eve_away():
    known = [number for number in P if number != 7]
    found = mental_image(T0, [P[number] for number in known], TWO_THIRDS, P[3])
    assert {table["Ada"] for table in found} == {"flu"}
    assert {table["Eve"] for table in found} == {"HIV"}
    assert not is_strongly_globally_safe(T0, [P[number] for number in known], TWO_THIRDS, Fraction(2, 3))


def test_table_1_without_p3_p6_p7_p8_all_ten_tables_are_possible_and_every_release_is_safe():
    known = (1, 2, 4, 5, 9)
    assert image(*known) == list(range(1, 11))
    assert image(*known, released=1) == [1, 2, 3, 4, 5, 6]
    assert is_strongly_globally_safe(T0, [P[number] for number in known], TWO_THIRDS, Fraction(1, 2))


@pytest.mark.slow("takes more than a second")
def test_table_1_the_papers_set_is_one_of_the_largest_strongly_globally_safe_ones():
    found = safe_sets(T0, TWO_THIRDS, Fraction(2, 3), strongly=True)
    assert frozenset(P[number] for number in (1, 2, 4, 5, 9)) in found
    assert all(len(known) <= 9 for known in found)
    assert frozenset(P.values()) not in found


T3 = {"id1": "s1", "id2": "s1", "id3": "s2", "id4": "s2"}
Q1, Q2 = partition("id1 id3", "id2 id4"), partition("id1 id4", "id2 id3")
Q3, Q4 = partition("id1 id2 id3 id4"), partition("id1 id2", "id3 id4")
C1, C2 = frozenset({"id1", "id2"}), frozenset({"id3", "id4"})


def candidates(f1, f2):
    return [
        LCandidate(C1, (dict(zip(("id1", "id2"), f1.split(), strict=True)),)),
        LCandidate(C2, (dict(zip(("id3", "id4"), f2.split(), strict=True)),)),
    ]


STRAIGHT, CROSSED, MIXED = (
    candidates("id3 id4", "id1 id2"),
    candidates("id4 id3", "id2 id1"),
    candidates("id3 id4", "id2 id1"),
)


def test_example_1_the_colors_of_table_3():
    assert colors(T3) == {"s1": C1, "s2": C2}
    assert is_l_eligible(T3, 2)
    assert not is_l_eligible(T3, 3)


def test_example_2_locally_and_globally_safe_sets_of_table_3():
    half = largest_share(Fraction(1, 2))
    assert set(locally_safe_set(T3, half)) == {Q1, Q2, Q3}
    for known in ({Q1, Q3}, {Q2, Q3}):
        assert frozenset(known) in safe_sets(T3, half, Fraction(1, 2), strongly=False)
        assert frozenset(known) in safe_sets(T3, half, Fraction(1, 2), strongly=True)


def test_example_3_the_colors_are_candidates_for_each_other():
    for candidate in STRAIGHT + CROSSED + MIXED:
        (f,) = candidate.bijections
        assert are_candidates(candidate.color, frozenset(f.values()), f, T3)
        assert satisfies_theorem_2(candidate, T3)
        assert set(candidate.sets) == {C1, C2}


@pytest.mark.parametrize(
    ("bijections", "self_contained", "minimal"),
    [(STRAIGHT, {Q1, Q3}, Q1), (CROSSED, {Q2, Q3}, Q2), (MIXED, {Q3}, Q3)],
)
def test_example_4_which_partitions_are_self_contained_depends_on_the_bijections(
    bijections, self_contained, minimal
):
    assert {one for one in (Q1, Q2, Q3, Q4) if is_self_contained(one, bijections)} == self_contained
    assert set(family_set(all_partitions(list(T3)), bijections)) == self_contained
    assert minimal_self_contained(bijections) == minimal


@pytest.mark.parametrize(("bijections", "known"), [(STRAIGHT, (Q1, Q3)), (CROSSED, (Q2, Q3))])
def test_example_5_the_colors_cover_each_other_in_the_family_set(bijections, known):
    for candidate in bijections:
        assert is_cover(candidate.bijections[0], known)
    assert satisfies_l_cover(bijections, known, T3)


def test_a_group_that_changes_with_the_exchange_is_no_cover():
    uneven = partition("id1 id3 id4", "id2")
    assert not is_cover(STRAIGHT[0].bijections[0], [uneven])
    assert not satisfies_l_cover(STRAIGHT, [uneven], T3)
    # An exchange turns Q4 into itself, but its groups have unequal shares of a color and its cover.
    assert is_cover(STRAIGHT[0].bijections[0], [Q4])
    assert not satisfies_l_cover(STRAIGHT, [Q4], T3)


def test_being_self_contained_is_sufficient_and_not_necessary_for_the_cover():
    assert not is_self_contained(Q2, STRAIGHT)
    assert satisfies_l_cover(STRAIGHT, [Q1, Q2, Q3], T3)


def test_table_3_the_image_of_two_partitions_has_every_value_half_of_the_time():
    half = largest_share(Fraction(1, 2))
    assert len(all_tables(list(T3), T3.values())) == 6
    assert highest_ratio(mental_image(T3, [Q1, Q3], half)) == Fraction(1, 2)
    assert highest_ratio(mental_image(T3, [Q1, Q2, Q3], half)) == Fraction(1, 2)
