from itertools import product

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymize.attack.equivalence import compromised, minimum_equivalence


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


def test_three_partitions_can_tell_what_no_two_do():
    partitions = [("e f", "a b"), ("e h i j", "a a b b"), ("i j", "a b")]
    (found,) = minimum_equivalence(*series(*partitions))
    assert found.e == found.at_least == 1
    assert sorted(sum(found.witness, ())) == ["f", "h"]
    (found,) = minimum_equivalence(*series(*partitions[:2]))
    assert (found.e or 9) > 1


def test_signatures_are_searched_apart():
    found = minimum_equivalence(
        *series(("ann bob", "flu cold"), ("ann greg", "flu cold"), ("eve dan", "flu gout"))
    )
    assert [(equivalence.signature, equivalence.e) for equivalence in found] == [
        (("cold", "flu"), 1),
        (("flu", "gout"), None),
    ]


def test_out_of_time_a_bound_is_reported_that_holds():
    partitions = [("e f", "a b"), ("e h i j", "a a b b"), ("i j", "a b")]
    (found,) = minimum_equivalence(*series(*partitions), seconds=0)
    assert found.at_least <= 1 <= found.e


def test_the_compromised_are_those_in_any_attack_smaller_than_promised():
    told = series(("ann bob", "flu cold"), ("ann greg", "flu cold"), ("eve dan", "flu cold"))
    assert sorted(compromised(*told, e=2)[0]["person"]) == ["bob", "greg"]
    assert sorted(compromised(*told, e=3)[0]["person"]) == ["ann", "bob", "dan", "eve", "greg"]
    assert compromised(*told, e=1)[0].is_empty()


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=80)
def test_the_minimum_is_that_of_trying_all_small_weights(seed):
    members, contents = random_series(np.random.default_rng(seed))
    found = minimum_equivalence(members, contents)
    tried = smallest_by_trying(members, contents)
    assert min((equivalence.e for equivalence in found if equivalence.e), default=None) == tried
    assert all(equivalence.proven for equivalence in found)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(deadline=None, max_examples=40)
def test_somebody_is_compromised_exactly_if_an_attack_is_smaller(seed, e):
    members, contents = random_series(np.random.default_rng(seed))
    smallest = min((found.e for found in minimum_equivalence(members, contents) if found.e), default=99)
    people, undecided = compromised(members, contents, e)
    assert undecided == 0
    assert (len(people) > 0) == (smallest < e)


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_a_witness_has_the_same_true_values_on_both_sides(seed):
    rng = np.random.default_rng(seed)
    members, contents = random_series(rng)
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


def smallest_by_trying(members, contents, most=3):
    partitions, people = members["partition"].n_unique(), members["person"].max() + 1
    matrix = np.zeros((partitions, people))
    matrix[members["partition"].to_numpy(), members["person"].to_numpy()] = 1
    values = np.array([contents.filter(partition=n)["tuples"][0] for n in range(partitions)])
    halves = np.array(list(product(range(-most, most + 1), repeat=partitions)))
    # Weights of whole numbers, halves and thirds.
    weights = np.concatenate([halves, halves / 2, halves / 3])
    weights = weights[np.abs(weights @ values) < 1e-9]
    image = weights @ matrix
    image = image[(np.abs(image - image.round()) < 1e-9).all(axis=1)]
    cost = np.abs(image).sum(axis=1)
    return round(cost[cost > 0.5].min() / 2) if (cost > 0.5).any() else None
