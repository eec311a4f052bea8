"""A series that begins with the streamliner and goes on under m-invariance."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.m_invariance import M_INVARIANCE
from republish.anonymize.principle.state import State
from republish.anonymize.promise import Candidates, LargestShare, Posterior, Promise, Signatures
from republish.anonymize.streamliner import streamliner
from tests.anonymize.streamliner.streamliner_tables import make_contract, run
from tests.attacks import attack_releases

SERIES = streamliner(M_INVARIANCE)


def snapshots(seed, releases=5, size=300, values=9):
    """People who come, go, come back, age and, a few, change value."""
    rng = np.random.default_rng(seed)
    everybody = pl.DataFrame(
        {
            "pseudonym": [number.to_bytes(16) for number in range(3 * size)],
            "qi_0": rng.integers(0, 90, 3 * size),
            "qi_1": rng.integers(0, 10, 3 * size),
            "value": [f"v{value}" for value in rng.integers(0, values, 3 * size)],
        },
        schema_overrides={"pseudonym": pl.Binary},
    )
    for release in range(releases):
        present = everybody.filter(pl.Series(rng.random(3 * size) < 1 / 3 + 0.1 * release))
        changed = pl.Series(rng.random(present.height) < 0.02 * bool(release))
        new = pl.Series([f"v{value}" for value in rng.integers(0, values, present.height)])
        yield present.with_columns(
            pl.col("qi_0") + release, pl.when(changed).then(new).otherwise("value").alias("value")
        ).sample(fraction=1, shuffle=True, seed=release)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("method", ["rda", "gda"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_whole_series_passes_the_audit_of_m_invariance(method, seed):
    contract = make_contract(
        l=3, method=method, then="m_invariance", on_ineligible="counterfeit", people_per_group=2
    )
    state, made = State.empty(), []
    for number, people in enumerate(snapshots(seed), start=1):
        candidate = run(people, contract, state=state, number=number)
        made.append((contract, people, candidate))
        state = candidate.state
    promises = [SERIES.promise(contract.principle)] * 5
    for number, attacked in enumerate(attack_releases(made, promises), start=1):
        assert attacked.holds, attacked.findings
        found = attacked.tables
        assert (found["m_uniqueness"]["tuples"] == found["m_uniqueness"]["values"]).all()
        assert found["m_uniqueness"]["values"].min() >= 3
        assert found["signature_invariance"]["overlapping"].sum() == 0
        assert found["coverage"]["uncovered"].sum() == 0
        if number > 1:
            assert found["signature_invariance"]["remembered"].sum() > 0
    assert number == 5


def test_the_state_is_that_of_m_invariance():
    contract = make_contract(l=3, then="m_invariance")
    people = next(snapshots(1))
    candidate = run(people, contract)
    memory, buckets = candidate.state.tables["memory"], candidate.state.tables["buckets"]
    assert memory.height == people.height
    assert memory.select("first_release", "last_release").unique().rows() == [(1, 1)]
    assert dict(memory.schema) == {
        "pseudonym": pl.Binary, "bucket_id": pl.Int32, "first_release": pl.Int32, "last_release": pl.Int32,
    }  # fmt: skip
    assert buckets["bucket_id"].to_list() == list(range(buckets.height))
    assert buckets["signature"].list.len().min() >= 3
    assert buckets["signature"].n_unique() == buckets.height
    signature = candidate.linkage.join(buckets, on="bucket_id").join(people, on="pseudonym")
    assert signature.select(pl.col("signature").list.contains(pl.col("value")).all()).item()
    in_use = candidate.buckets
    assert in_use["people"].sum() == people.height
    assert (in_use["people"] == in_use["groups"] * in_use["signature"].list.len()).all()
    assert in_use.columns == ["bucket_id", "signature", "people", "counterfeits", "groups"]


def test_values_that_are_whole_numbers_make_a_series_too():
    contract = make_contract(l=3, then="m_invariance")
    state = State.empty()
    for number, people in enumerate(snapshots(3, releases=2), start=1):
        numbers = people.with_columns(pl.col("value").str.slice(1).cast(pl.Int64) - 4)
        state = run(numbers.unique("pseudonym"), contract, state=state, number=number).state
    assert state.tables["buckets"].schema["signature"] == pl.List(pl.Int64)


def test_what_is_promised_of_a_series_is_what_m_invariance_promises():
    alone, series = make_contract(l=3).principle, make_contract(l=3, then="m_invariance").principle
    share = 1 / alone.l
    assert SERIES.promise(alone) == Promise(Candidates(alone.l), LargestShare(share), Posterior(share))
    assert SERIES.promise(alone).part(Signatures) is None
    assert SERIES.promise(series).as_json() == {
        "candidates": 3,
        "largest_share": 1 / 3,
        "signatures": "unique",
    }


def test_counterfeits_that_would_give_away_are_refused_as_m_invariance_refuses_them():
    series = {"then": "m_invariance", "on_ineligible": "counterfeit", "people_per_group": 2}
    [(key, words)] = SERIES.faults(make_contract(l=2, **series))
    assert key == "principle.on_ineligible"
    assert "counterfeit is refused with m = 2" in words
    assert not SERIES.faults(make_contract(l=3, **series))
    assert not SERIES.faults(make_contract(l=2, then="m_invariance", on_ineligible="wait"))


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({"l": 3}, {"l": 3, "then": "m_invariance"}, [("then", "new series")]),
        ({"l": 3, "then": "m_invariance"}, {"l": 3}, [("then", "consent")]),
        ({"l": 3, "then": "m_invariance"}, {"l": 4, "then": "m_invariance"}, [("l", "safe")]),
        ({"l": 3, "then": "m_invariance"}, {"l": 2, "then": "m_invariance"}, [("l", "consent")]),
        (
            {"l": 3, "then": "m_invariance"},
            {
                "l": 3,
                "then": "m_invariance",
                "on_ineligible": "counterfeit",
                "people_per_group": 2,
                "method": "rda",
            },
            [("on_ineligible", "consent"), ("people_per_group", "safe"), ("method", "safe")],
        ),
        ({"l": 3}, {"l": 2}, [("l", "consent")]),
    ],
)
def test_changed_parameters(before, now, found):
    changes = SERIES.parameter_changes(make_contract(**before).principle, make_contract(**now).principle)
    assert [(change.name, change.verdict) for change in changes] == found
    assert all(change.why.endswith(".") for change in changes)
