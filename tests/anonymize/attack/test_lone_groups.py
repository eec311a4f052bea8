import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack import equivalence, reidentification
from republish.anonymize.attack.equivalence import compromised, minimum_equivalence
from tests.anonymize.attack.test_equivalence import series


def lone_groups(rng, signatures):
    """Groups of different people, which hold the values of a signature once or several times."""
    parts = []
    for group in range(int(rng.integers(1, 6))):
        values = signatures[int(rng.integers(len(signatures)))] * int(rng.choice([1, 1, 2, 3]))
        parts.append((" ".join(f"p{group}.{n}" for n in range(len(values))), " ".join(values)))
    return series(*parts)


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_groups_of_different_people_are_attacked_as_with_matrices(seed):
    members, contents = lone_groups(np.random.default_rng(seed), ["ab", "aab", "cd"])
    found = minimum_equivalence(members, contents)
    stated = [(one.signature, one.partitions, one.people, one.e, one.at_least) for one in found]
    matrices = [*equivalence.person_matrices(members, contents)]
    each = [equivalence._minimum(matrix, np.inf) for matrix in matrices]
    by_matrices = [(one.signature, one.partitions, one.people, one.e, one.at_least) for one in each]
    assert sorted(stated[: len(each)]) == sorted(by_matrices)


def test_as_many_signatures_as_groups_take_no_matrix(monkeypatch):
    def none(*_):
        raise AssertionError("a matrix")

    parts = [(f"a{n} b{n} c{n}", f"x y v{n}") for n in range(equivalence.SEARCH_LIMIT + 1)]
    twice = [*parts, *parts, ("d e f", "x y v0")]  # a second release that changes nothing but one group
    monkeypatch.setattr(equivalence, "person_matrices", none)
    *found, whole = minimum_equivalence(*series(*twice))
    assert [one.e for one in found if one.partitions > 1] == [3]
    assert (whole.e, whole.at_least) == (3, 3)
    assert compromised(*series(*twice), 3).people.is_empty()


def test_a_group_with_another_group_s_people_and_other_values_is_no_copy_of_it():
    (found,) = minimum_equivalence(*series(("a b", "x y"), ("a b", "x z"), ("b c", "x y")))
    assert found.partitions == 3


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_people_are_counted_in_each_box_that_they_lie_in(seed):
    rng = np.random.default_rng(seed)
    at = rng.integers(0, 20, (15, 2))
    points = pl.DataFrame(at, schema=["qi_0", "qi_1"]).unique().with_columns(people=pl.lit(2))
    low = rng.integers(0, 20, (6, 2))
    high = low + rng.integers(0, 10, (6, 2))
    boxes = pl.DataFrame(
        {f"qi_{n}_{end}": some[:, n] for n in (0, 1) for end, some in (("low", low), ("high", high))}
    )
    rows = points.select("qi_0", "qi_1").to_numpy()
    expected = [2 * int(((rows >= low[n]) & (rows <= high[n])).all(axis=1).sum()) for n in range(6)]
    few, reidentification.MOST_POINTS = reidentification.MOST_POINTS, 4
    try:
        assert reidentification._inside(points, ["qi_0", "qi_1"], boxes).tolist() == expected
    finally:
        reidentification.MOST_POINTS = few
