from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from republish.anonymize.attack import equivalence
from republish.anonymize.attack.equivalence import compromised, minimum_equivalence


def series(*partitions):
    """Partitions given as `people: values`, both separated by blanks."""
    members = [(n, person) for n, (people, _) in enumerate(partitions) for person in people.split()]
    values = [(n, value) for n, (_, held) in enumerate(partitions) for value in held.split()]
    contents = pl.DataFrame(values, schema=["partition", "value"], orient="row")
    return (
        pl.DataFrame(members, schema=["partition", "person"], orient="row"),
        contents.group_by("partition", "value").agg(pl.len().cast(pl.Int64).alias("tuples")),
    )


def test_a_single_release_can_t_tell_two_people_to_be_alike():
    (found,) = minimum_equivalence(*series(("ann bob", "flu cold")))
    assert (found.e, found.at_least) == (None, None)


def test_two_groups_of_one_signature_are_equivalent_to_each_other():
    (found,) = minimum_equivalence(*series(("ann bob", "flu cold"), ("eve dan", "cold flu")))
    assert found.e == found.at_least == 2
    assert {frozenset(side) for side in found.witness} == {
        frozenset({"ann", "bob"}),
        frozenset({"eve", "dan"}),
    }


def test_who_replaces_somebody_in_a_group_has_their_value():
    (found,) = minimum_equivalence(*series(("ann bob", "flu cold"), ("ann greg", "flu cold")))
    assert found.e == found.at_least == 1
    assert sorted(sum(found.witness, ())) == ["bob", "greg"]


def test_weights_with_more_digits_than_numbers_have_prove_no_attack():
    matrix, *_ = equivalence.person_matrices(*series(("ann bob", "flu cold"), ("ann greg", "flu cold")))
    assert equivalence._attack(matrix, [Fraction(1), Fraction(-1)]).e == 1
    weight = sum(Fraction(1, prime) for prime in (941, 947, 953, 967, 971, 977, 983, 991, 997))
    assert equivalence._attack(matrix, [weight, -weight]) is None


def test_three_partitions_can_tell_what_no_two_do():
    partitions = [("e f", "a b"), ("e h i j", "a a b b"), ("i j", "a b")]
    (found,) = minimum_equivalence(*series(*partitions))
    assert found.e == found.at_least == 1
    assert sorted(sum(found.witness, ())) == ["f", "h"]
    (found,) = minimum_equivalence(*series(*partitions[:2]))
    assert (found.e or 9) > 1


def test_each_signature_is_reported_and_then_the_series():
    found = minimum_equivalence(
        *series(("ann bob", "flu cold"), ("ann greg", "flu cold"), ("eve dan", "flu gout"))
    )
    assert [(one.signature, one.signatures, one.e) for one in found] == [
        (("cold", "flu"), 1, 1),
        (("flu", "gout"), 1, None),
        (("cold", "flu", "gout"), 2, 1),
    ]
    assert all(one.proven for one in found)


def test_one_signature_is_the_whole_series():
    assert len(minimum_equivalence(*series(("ann bob", "flu cold"), ("ann greg", "flu cold")))) == 1


# p and q come back; no whole numbers as weights prove them alike.
HALVES = [("p r13 r14", "x y z"), ("p r23 r24", "x y z"), ("q r13 r23", "x y z"), ("q r14 r24", "x y z")]


def test_where_people_come_back_halves_of_partitions_tell_what_whole_ones_do_not():
    (found,) = minimum_equivalence(*series(*HALVES))
    assert (found.e, found.at_least) == (1, 1)
    assert np.gcd.reduce([weight.denominator for _, weight in found.weights]) == 2
    caught = compromised(*series(*HALVES), e=2)
    assert sorted(caught.people["person"]) == ["p", "q", "r13", "r14", "r23", "r24"]
    assert caught.undecided.is_empty()


def test_the_weights_reported_prove_the_attack():
    for partitions in (HALVES, ACROSS):
        members, contents = series(*partitions)
        found = minimum_equivalence(members, contents)[-1]
        weights = pl.DataFrame(
            [(number, float(weight)) for number, weight in found.weights],
            schema=["partition", "weight"],
            orient="row",
        )
        effect = members.join(weights, on="partition").group_by("person").agg(pl.col("weight").sum())
        left, right = found.witness
        assert sorted(effect.filter(pl.col("weight") > 0)["person"]) == sorted(left)
        assert sorted(effect.filter(pl.col("weight") < 0)["person"]) == sorted(right)
        values = contents.join(weights, on="partition").group_by("value")
        assert set(values.agg((pl.col("weight") * pl.col("tuples")).sum())["weight"]) == {0.0}


# No two of the three signatures are alike; the third is the first two together.
ACROSS = [("a b", "1 2"), ("c d", "3 4"), ("e f g h", "1 2 3 4")]


def test_an_attack_across_signatures_is_found():
    *parts, whole = minimum_equivalence(*series(*ACROSS))
    assert [part.e for part in parts] == [None, None, None]
    assert all(part.proven for part in parts)
    assert (whole.e, whole.at_least) == (4, 4)
    assert {frozenset(side) for side in whole.witness} == {frozenset("abcd"), frozenset("efgh")}
    assert compromised(*series(*ACROSS), e=5).people.height == 8
    assert compromised(*series(*ACROSS), e=4).people.is_empty()


def test_whoever_is_in_groups_of_two_signatures_connects_them():
    # No m-invariant series: a is in {1, 2} and in {1, 3}, d and f have what c and e have of both.
    partitions = [("a b", "1 2"), ("a c", "1 3"), ("d b", "1 2"), ("f c", "1 3")]
    (whole,) = minimum_equivalence(*series(*partitions))
    assert (whole.signatures, whole.e, whole.at_least) == (2, 1, 1)
    # AttackResult only across the signatures: {a, b} and {c, d} are {a, c} and {b, d} but for values.
    crossed = [("a b", "1 2"), ("c d", "3 4"), ("a c", "1 3"), ("e d", "2 4")]
    (whole,) = minimum_equivalence(*series(*crossed))
    assert (whole.signatures, whole.e) == (4, 1)
    assert {frozenset(side) for side in whole.witness} == {frozenset("b"), frozenset("e")}


def test_signatures_whose_values_cannot_cancel_out_give_no_attack_together():
    *_, whole = minimum_equivalence(*series(("a b", "1 2"), ("c d", "3 4")))
    assert (whole.e, whole.at_least) == (None, None)
    assert compromised(*series(("a b", "1 2"), ("c d", "3 4")), e=9, seconds=0).undecided.is_empty()


def test_out_of_time_a_bound_is_reported_that_holds():
    partitions = [("e f", "a b"), ("e h i j", "a a b b"), ("i j", "a b")]
    (found,) = minimum_equivalence(*series(*partitions), seconds=0)
    assert found.at_least <= 1 <= found.e
    assert not found.proven
    whole = minimum_equivalence(*series(*ACROSS), seconds=0)[-1]
    assert (whole.e, whole.at_least, whole.proven) == (None, 4, False)  # e, f, g, h are inseparable


def test_too_large_a_series_is_said_to_be_undecided(monkeypatch):
    monkeypatch.setattr(equivalence, "SEARCH_LIMIT", 2)
    whole = minimum_equivalence(*series(*ACROSS))[-1]
    assert (whole.e, whole.at_least, whole.proven) == (None, 2, False)
    found = compromised(*series(*ACROSS), e=5)
    assert found.people.is_empty()
    assert sorted(found.undecided["person"]) == [*"abcdefgh"]


def test_the_compromised_are_those_in_any_attack_smaller_than_promised():
    told = series(("ann bob", "flu cold"), ("ann greg", "flu cold"), ("eve dan", "flu cold"))
    assert sorted(compromised(*told, e=2).people["person"]) == ["bob", "greg"]
    assert sorted(compromised(*told, e=3).people["person"]) == ["ann", "bob", "dan", "eve", "greg"]
    assert compromised(*told, e=1).people.is_empty()


@pytest.mark.parametrize("seconds", [0, 60])
def test_the_clock_decides_how_many_are_undecided_and_never_who_is_caught_wrongly(seconds):
    partitions = [("e f", "a b"), ("e h i j", "a a b b"), ("i j", "a b"), ("k l", "a c"), ("k m", "a c")]
    found = compromised(*series(*partitions), e=2, seconds=seconds)
    certain = {"l", "m"}  # two partitions subtracted: needs no search
    assert set(found.people["person"]) == (certain if seconds == 0 else certain | {"f", "h"})
    assert set(found.undecided["person"]) == ({"f", "h"} if seconds == 0 else set())


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("foreign", [False, True])
@given(st.integers(0, 2**32 - 1))
@example(274)
@example(2455)
@example(3201)
@example(5588)
@settings(max_examples=80)
def test_the_minimum_is_that_of_trying_all_pairs_of_sets_of_people(foreign, seed):
    make = random_tables if foreign else random_series
    members, contents = make(np.random.default_rng(seed))
    whole = minimum_equivalence(members, contents)[-1]
    assert whole.proven
    tried = smallest_by_trying(members, contents)
    assert whole.e == tried or (tried is None and (whole.e or MOST + 1) > MOST)


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans())
@settings(max_examples=60)
def test_somebody_is_compromised_exactly_if_in_an_attack_that_is_smaller(seed, e, foreign):
    make = random_tables if foreign else random_series
    members, contents = make(np.random.default_rng(seed))
    found = compromised(members, contents, e)
    assert found.undecided.is_empty()
    assert set(found.people["person"]) == in_an_attack(members, contents, e - 1)


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=40)
def test_a_witness_has_the_same_true_values_on_both_sides(seed, foreign):
    make = random_tables if foreign else random_series
    members, contents = make(np.random.default_rng(seed))
    for found in minimum_equivalence(members, contents):
        left, right = (sorted(person % 2 for person in side) for side in found.witness)
        assert left == right
        assert len(left) == (found.e or 0)


def random_series(rng, releases=4):
    """One bucket per release, people being 2 k and 2 k + 1 with the values 0 and 1, some coming back."""
    pairs = [rng.choice(6, size=int(rng.integers(1, 5)), replace=False) for _ in range(releases)]
    other = [rng.permutation(chosen) for chosen in pairs]
    odd = [rng.choice(6, size=len(chosen), replace=False) for chosen in pairs]
    members = [
        (n, int(person))
        for n, (evens, odds) in enumerate(zip(other, odd, strict=True))
        for person in (*(2 * evens), *(2 * odds + 1))
    ]
    contents = [(n, value, len(chosen)) for n, chosen in enumerate(pairs) for value in (0, 1)]
    return (
        pl.DataFrame(members, schema=["partition", "person"], orient="row"),
        pl.DataFrame(contents, schema=["partition", "value", "tuples"], orient="row"),
    )


def random_tables(rng, releases=3):
    """Groups of any composition, person n having the value n % 2: signatures are not kept."""
    members, contents, partition = [], [], 0
    for _ in range(releases):
        present = rng.permutation(8)[: rng.integers(2, 9)]
        for group in np.array_split(present, rng.integers(1, 4)):
            members += [(partition, int(person)) for person in group]
            contents += [
                (partition, v, int((group % 2 == v).sum())) for v in (0, 1) if (group % 2 == v).any()
            ]
            partition += len(group) > 0
    return (
        pl.DataFrame(members, schema=["partition", "person"], orient="row"),
        pl.DataFrame(contents, schema=["partition", "value", "tuples"], orient="row"),
    )


MOST = 3
"""The largest attack that is tried."""


def in_an_attack(members, contents, most):
    """Everybody in one of two multisets of up to so many people known to be alike, by Definition 10."""
    people = members["person"].unique().sort().to_list()
    kernel = orthogonal(members, contents, people)
    found = set()
    for e in range(1, most + 1):
        sides = list(combinations_with_replacement(range(len(people)), e))
        counts = np.zeros((len(sides), len(people)), dtype=np.int64)
        for number, side in enumerate(sides):
            np.add.at(counts[number], list(side), 1)
        image = counts @ kernel
        _, alike = np.unique(image, axis=0, return_inverse=True)
        for same in range(alike.max() + 1):
            chosen = counts[alike.ravel() == same]
            for one in chosen[1:]:
                moved = np.flatnonzero(one - chosen[0])
                found |= {people[number] for number in moved}
    return found


def smallest_by_trying(members, contents):
    return next((e for e in range(1, MOST + 1) if in_an_attack(members, contents, e)), None)


def orthogonal(members, contents, people):
    """Whole-number vectors to which an effect on people is orthogonal exactly if weights have that effect.

    Effects of weights are w S with w U = 0. They are the vectors orthogonal to all x for which S x is a
    combination of the columns of U.
    """
    partitions = members["partition"].unique().sort().to_list()
    values = contents["value"].unique().sort().to_list()
    inside = set(members.rows())
    held = {(partition, value): tuples for partition, value, tuples in contents.rows()}
    matrix = [
        [Fraction((partition, person) in inside) for person in people]
        + [Fraction(held.get((partition, value), 0)) for value in values]
        for partition in partitions
    ]
    basis = [vector[: len(people)] for vector in null_vectors(matrix)]
    scale = [np.lcm.reduce([entry.denominator for entry in vector]) for vector in basis]
    return np.array(
        [[int(entry * s) for entry in vector] for vector, s in zip(basis, scale, strict=True)], dtype=np.int64
    ).T


def null_vectors(matrix):
    """A basis of the vectors that a matrix of fractions maps to nothing, by Gauss and Jordan."""
    rows, pivots = [row[:] for row in matrix], []
    for column in range(len(rows[0])):
        at = next((r for r in range(len(pivots), len(rows)) if rows[r][column]), None)
        if at is None:
            continue
        top = len(pivots)
        rows[top], rows[at] = rows[at], rows[top]
        rows[top] = [entry / rows[top][column] for entry in rows[top]]
        for r in range(len(rows)):
            if r != top and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[top], strict=True)]
        pivots.append(column)
    for free in set(range(len(rows[0]))) - set(pivots):
        vector = [Fraction(0)] * len(rows[0])
        vector[free] = Fraction(1)
        for r, pivot in enumerate(pivots):
            vector[pivot] = -rows[r][free]
        yield vector


@pytest.mark.parametrize(
    ("apart", "joint", "begin", "bound"),
    [
        (2, 3, 3, 2),  # the joint search never began: attacks within parts were not looked at by it
        (None, 3, 3, 3),
        (5, 3, 3, 3),
        (2, 4, 3, 4),
        (2, None, 3, None),  # there is no attack at all
    ],
)
def test_no_more_is_claimed_than_both_searches_have_looked_at(apart, joint, begin, bound):
    assert equivalence._joined(apart, joint, begin) == bound
