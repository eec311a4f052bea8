"""m-invariant groups with exact quasi-identifiers beside their values."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.buckets.counterfeits import counterfeits_of, people_alike
from republish.anonymize.buckets.counts import Demand, Plan
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.errors import ContractError
from republish.anonymize.formats.anatomy import anatomize
from republish.anonymize.m_invariance import M_INVARIANCE
from republish.anonymize.promise.registry import checks_of
from tests.series import make_contract, released

VALUES = ["flu", "gout", "mumps", "asthma", "angina", "scurvy"]
NOBODY = np.empty(0, np.int64)


def snapshot(rng, people=600):
    """People of whom each has a zipcode of their own, and values that follow from age."""
    age = rng.integers(0, 120, people)
    value = np.where(rng.random(people) < 0.7, age * len(VALUES) // 120, rng.integers(0, 6, people))
    return pl.DataFrame(
        {
            "person": [f"p{i}" for i in range(people)],
            "age": age,
            "zipcode": 10_000 + rng.permutation(people),
            "value": np.array(VALUES)[value],
        }
    )


def anatomies(tables, **principle):
    """`(contract, people, candidate)` of each table."""
    return released(make_contract(values=VALUES, m=3, format="anatomy", **principle), tables)


def test_a_group_has_a_row_of_quasi_identifiers_for_each_of_its_values():
    ((contract, people, candidate),) = anatomies([snapshot(np.random.default_rng(1))], on_ineligible="wait")
    rows = candidate.published["quasi_identifiers"]
    values = candidate.published["sensitive"]
    assert (values["count"] == 1).all()
    sizes = values.group_by("group_id").len().sort("group_id")
    assert sizes["len"].min() >= 3
    assert rows.group_by("group_id").len().sort("group_id").equals(sizes)
    assert contract.principle.format == "anatomy"
    here = people.join(candidate.linkage, on="pseudonym").select("group_id", "qi_0", "qi_1").sort("group_id")
    stated = rows.rename({"age": "qi_0", "zipcode": "qi_1"})
    assert here.sort("group_id", "qi_0", "qi_1").equals(stated.sort("group_id", "qi_0", "qi_1"))


def test_a_counterfeit_has_the_quasi_identifiers_of_somebody_in_its_bucket():
    rng = np.random.default_rng(2)
    first = snapshot(rng)
    # Nobody comes, and everybody with one value goes: groups need counterfeits of it.
    left = first.filter(pl.col("value") != "gout")
    forged = 0
    for _, people, candidate in anatomies([first, left], on_ineligible="counterfeit"):
        in_bucket = people.join(candidate.linkage, on="pseudonym")
        rows = candidate.published["quasi_identifiers"]
        numbers = in_bucket.select("group_id", "bucket_id").unique()
        extra = rows.join(numbers, on="group_id").join(
            in_bucket.select("group_id", age="qi_0", zipcode="qi_1"),
            on=["group_id", "age", "zipcode"],
            how="anti",
        )
        alike = extra.join(
            in_bucket.select("bucket_id", age="qi_0", zipcode="qi_1"),
            on=["bucket_id", "age", "zipcode"],
            how="semi",
        )
        assert alike.height == extra.height
        forged += extra.height
        assert rows.height - people.height == candidate.published["counterfeits"]["count"].sum()
    assert forged > 20


def test_a_counterfeit_may_look_like_anybody_of_its_bucket():
    plan = Plan(
        signatures=Signatures.of(np.ones((2, 3), bool)),
        moved=np.zeros(6, np.int64),
        separated=Demand(NOBODY, NOBODY, NOBODY),
        counterfeits=np.array([0, 2, 0, 1, 0, 1]),
        held_back=np.zeros(3, np.int64),
    )
    bucket, value = counterfeits_of(plan)
    assert bucket.tolist() == [0, 0, 1, 1]
    assert value.tolist() == [1, 1, 0, 2]
    hosting = np.array([1, 0, 1, 0, 0])
    seen = [people_alike(bucket, hosting, 2, np.random.default_rng(seed).integers) for seed in range(200)]
    assert {*np.ravel([rows[:2] for rows in seen])} == {1, 3, 4}
    assert {*np.ravel([rows[2:] for rows in seen])} == {0, 2}


@pytest.mark.parametrize("seed", range(20))
def test_published_groups_do_not_show_in_which_order_they_were_made(seed):
    # Few different rows, so that many groups begin with the same row and hold the same values.
    rng = np.random.default_rng(seed)
    contract = make_contract(values=VALUES, m=2, format="anatomy")
    groups = np.repeat(np.arange(30), 2)
    rows = pl.DataFrame({"qi_0": rng.integers(0, 2, 60), "qi_1": rng.integers(10_000, 10_002, 60)})
    values = pl.Series(np.array(VALUES)[np.tile([0, 1], 30) + 2 * (groups % 2)])
    forged = rng.random(60) < 0.2
    made = anatomize(rows, values, groups, forged, contract)
    renamed = rng.permutation(30)[groups]
    order = rng.permutation(60)
    again = anatomize(rows[order], values[order], renamed[order], forged[order], contract)
    assert all(made.tables[name].equals(again.tables[name]) for name in made.tables)


def test_another_format_is_another_series_and_minimum_widths_are_refused():
    plain, exact = (
        make_contract(values=VALUES, format=name).principle for name in ("generalization", "anatomy")
    )
    (change,) = M_INVARIANCE.parameter_changes(plain, exact)
    assert (change.name, change.verdict) == ("format", "new series")
    with pytest.raises(ContractError, match="min_width of age can't be kept: the format anatomy publishes"):
        make_contract(values=VALUES, widths={"age": 7}, format="anatomy")


def test_checks_of_intervals_are_not_made_of_exact_quasi_identifiers():
    exact, generalized = (
        [
            check.name
            for check in checks_of(M_INVARIANCE.promise(one.principle), M_INVARIANCE.format(one), one)
        ]
        for one in (make_contract(values=VALUES, format="anatomy"), make_contract(values=VALUES))
    )
    assert exact == ["signature_invariance", "largest_share", "m_uniqueness", "coverage", "counterfeits"]
    assert generalized == [*exact, "minimum_widths"]
