"""Are people held back for the value they have? An attack that finds such a rule, and nothing here.

An adversary who knows who was in the table, and sees who is not in the release, asks why. If people were held
back because too little of their budget remains for the very value they have now, the value that they were
linked to most would be theirs more often than among people who are placed and were linked to it as much.
"""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom

from republish.anonymize.attack.breach import breach_probability, forget_absent, link_probabilities
from tests.anonymize.global_guarantee.guarantee_series import crowd, make_contract, publish, values_by_group


def suspects(breach: pl.DataFrame) -> pl.DataFrame:
    """`person`, `suspected`: the value that each person was linked to with the largest probability so far.

    Parameters
    ----------
    breach
        `person`, `value`, `breach`, as `breach_probability` leaves it for the releases before.
    """
    worst = breach.sort("person", "breach", "value", descending=[False, True, False])
    return worst.unique("person", keep="first", maintain_order=True).select("person", suspected="value")


def held_back_for_their_value(people: pl.DataFrame, suspected: pl.DataFrame) -> dict[str, float]:
    """Whether people who are held back have the suspected value more often than people who are placed.

    Everybody is compared with people of whom the same value is suspected: one table of two by two for each
    value, as Cochran, Mantel and Haenszel add them up.

    Parameters
    ----------
    people
        T(n): `person`, `value` (the truth), `is_held_back`.
    suspected
        What `suspects` returned. People of whom nothing is suspected are left out.

    Returns
    -------
    dict
        `held_back`: how many were compared; `hits`: how many of them have the suspected value; `expected`:
        how
        many should, if held back or not made no difference; `p`: the probability of at least so many hits by
        chance.
    """
    hit = pl.col("value") == pl.col("suspected")
    strata = (
        people.join(suspected, on="person")
        .group_by("suspected")
        .agg(
            n=pl.len().cast(pl.Float64),
            held_back=pl.col("is_held_back").sum().cast(pl.Float64),
            hits=hit.sum().cast(pl.Float64),
            both=(hit & pl.col("is_held_back")).sum().cast(pl.Float64),
        )
        .filter(pl.col("n") > 1)
    )
    n, held, hits = pl.col("n"), pl.col("held_back"), pl.col("hits")
    sums = strata.select(
        held_back=held.sum(),
        hits=pl.col("both").sum(),
        expected=(held * hits / n).sum(),
        variance=(held * hits * (n - held) * (n - hits) / (n * n * (n - 1))).sum(),
    ).row(0, named=True)
    variance = sums.pop("variance")
    z = (sums["hits"] - sums["expected"] - 0.5) / math.sqrt(variance) if variance > 0 else 0.0
    return {**sums, "p": 0.5 * math.erfc(z / math.sqrt(2)) if variance > 0 else 1.0}


def attacked(steps) -> list[dict]:
    """The attack on each release but the first, by what the releases before it said."""
    state, found = None, []
    for step in steps:
        placed = step.people["pseudonym"].is_in(step.candidate.linkage["pseudonym"].implode())
        people = step.people.select(person="pseudonym", value="value", is_held_back=~placed)
        if state is not None:
            found.append(held_back_for_their_value(people, suspects(state)))
        hosts = step.candidate.linkage.rename({"pseudonym": "person"})
        state = breach_probability(link_probabilities(hosts, values_by_group(step)), state)
    return found


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("strategy", [{"strategy": "minimum"}, {"strategy": "geometric", "a": 0.5}])
def test_people_held_back_have_the_suspected_value_as_often_as_others(strategy):
    contract = make_contract(on_ineligible="wait", **strategy)
    snapshots = crowd(seed=11, size=4000, number_of_values=20, changing=1.0, turnover=0.1).snapshots(6)
    found = attacked(publish([contract] * 6, snapshots))
    compared = sum(one["held_back"] for one in found)
    assert compared > 700
    hits, expected = (sum(one[key] for one in found) for key in ("hits", "expected"))
    assert abs(hits - expected) < 4 * np.sqrt(expected)
    assert min(one["p"] for one in found) > 1e-4


def test_holding_back_people_for_the_value_they_have_is_found():
    """The rule that suggests itself speaks: hold back people whose own value is used up."""
    rng = np.random.default_rng(12)
    people = pl.DataFrame({"person": range(4000), "value": rng.integers(0, 20, 4000)})
    suspected = pl.DataFrame({"person": range(4000), "suspected": rng.integers(0, 20, 4000)})
    hit = people["value"] == suspected["suspected"]
    found = held_back_for_their_value(people.with_columns(is_held_back=hit), suspected)
    assert found["hits"] == found["held_back"] == hit.sum()
    assert found["p"] < 1e-9
    fair = held_back_for_their_value(
        people.with_columns(is_held_back=pl.Series(rng.random(4000) < 0.3)), suspected
    )
    assert fair["p"] > 1e-4


def test_the_chance_of_so_many_hits():
    """30 of 100 people have the suspected value, 40 are held back, 18 of these have it: 12 are expected."""
    people = pl.DataFrame(
        {
            "person": range(100),
            "value": ["flu"] * 30 + ["gout"] * 70,
            "is_held_back": [True] * 18 + [False] * 12 + [True] * 22 + [False] * 48,
        }
    )
    suspected = people.select("person", suspected=pl.lit("flu"))
    found = held_back_for_their_value(people, suspected)
    assert (found["held_back"], found["hits"], found["expected"]) == (40, 18, 12)
    assert found["p"] == pytest.approx(hypergeom.sf(17, 100, 30, 40), rel=0.1)


def test_nobody_to_compare():
    people = pl.DataFrame({"person": [1], "value": ["a"], "is_held_back": [True]})
    suspected = pl.DataFrame({"person": [1], "suspected": ["a"]})
    assert held_back_for_their_value(people, suspected)["p"] == 1.0


def test_the_most_suspected_value_is_the_one_linked_to_most():
    breach = pl.DataFrame({"person": [1, 1, 2], "value": ["a", "b", "c"], "breach": [0.2, 0.4, 0.1]})
    assert suspects(breach).rows() == [(1, "b"), (2, "c")]


def test_forgetting_drops_people_absent_for_so_many_releases():
    state = pl.DataFrame({"person": [1, 2], "value": ["a", "a"], "breach": [0.5, 0.5]})
    here = pl.DataFrame({"person": [1]})
    state = forget_absent(state, pl.DataFrame({"person": [1, 2]}), 1, 2)
    state = forget_absent(state, here, 2, 2)
    assert state["person"].to_list() == [1, 2]
    assert forget_absent(state, here, 3, 2)["person"].to_list() == [1]
