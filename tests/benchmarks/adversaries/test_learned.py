"""An adversary who learned from simulated series finds what an algorithm gives away, and nothing else."""

import numpy as np
import polars as pl
import pytest

from benchmarks.adversaries.arrivals import shuffled_contract
from benchmarks.adversaries.clues import clue_names, clues
from benchmarks.adversaries.learned import guess, scores, train
from benchmarks.adversaries.learned_attack import attacked_series
from benchmarks.census import census
from republish.anonymize.m_invariance import publish

TRAINED = 3
"""Series that the adversary learns from; as many others are attacked."""
SURE = 5
"""Standard errors: what is less is chance."""


def guessed(releases=1):
    """Guesses at people of series of 1,000 people, whose values have nothing to do with them."""
    table, contract = census(20_000), shuffled_contract(4)
    made = [attacked_series(table, seed, 1_000, 100, releases, contract) for seed in range(2 * TRAINED)]
    found, truth = (pl.concat(parts) for parts in zip(*made, strict=True))
    names = [name for name in found.columns if name not in ("series", "person", "value")]
    model = train(found.filter(pl.col("series") < TRAINED), truth, names)
    tested = found.filter(pl.col("series") >= TRAINED).sample(fraction=1, shuffle=True, seed=1)
    return guess(tested, truth, scores(model, tested, names))


def far_from_the_others(bucket, value, codes, *_others):
    """Groups as good as any, but the carrier of a signature's first value lies far from the others."""
    tuples = pl.DataFrame({"bucket": bucket, "value": value, "at": codes[:, 0]})
    carriers = ["bucket", "value"]
    place = pl.col("at").rank("ordinal").over(carriers).cast(pl.Int64) - 1
    shifted = (place + pl.len().over(carriers) // 2) % pl.len().over(carriers)
    is_first = pl.col("value") == pl.col("value").min().over("bucket")
    group = pl.struct("bucket", pl.when(is_first).then(shifted).otherwise(place)).rank("dense")
    return tuples.select(group.cast(pl.Int64) - 1).to_series().to_numpy()


def test_nothing_is_learned_of_a_first_release():
    found = guessed()
    assert found.people == 3_000
    assert found.chance == pytest.approx(0.25, abs=0.001)
    assert abs(found.excess) < SURE


def test_an_algorithm_that_gives_a_value_away_is_found_out(monkeypatch):
    monkeypatch.setattr(publish, "group_people", far_from_the_others)
    found = guessed()
    assert found.chance == pytest.approx(0.25, abs=0.001)
    assert found.excess > SURE
    assert found.right > 0.3


PEOPLE = pl.DataFrame({"person": [1, 2, 3, 4], "qi_0": [0.0, 0.1, 0.8, 1.0], "qi_1": [0.5, 0.5, 0.0, 1.0]})
HOSTS = pl.DataFrame(
    {"release": [1, 1, 2, 2, 2, 2], "person": [1, 2, 1, 2, 3, 4], "group_id": [1, 1, 2, 2, 1, 1]}
)
GROUPS = pl.DataFrame(
    {
        "release": [1, 1, 2, 2, 2, 2, 2],
        "group_id": [1, 1, 2, 2, 1, 1, 1],
        "value": ["a", "b", "a", "b", "a", "c", "d"],
        "counterfeits": [0, 0, 0, 0, 1, 1, 1],
    }
)
KNOWN = pl.DataFrame({"value": ["a", "b", "c", "d"], "share": [0.25] * 4})


def test_every_person_of_the_last_release_has_a_row_for_each_candidate():
    found = clues(PEOPLE, HOSTS, GROUPS, KNOWN).sort("person", "value")
    assert found.columns == ["person", "value", *clue_names(PEOPLE)]
    candidates = found.group_by("person", maintain_order=True).agg("value")["value"].to_list()
    assert candidates == [["a", "b"], ["a", "b"], ["a", "c", "d"], ["a", "c", "d"]]
    assert found.select(pl.all().is_null().any()).row(0) == (False,) * found.width


def test_clues_say_when_people_came_and_where_they_lie_in_their_groups():
    found = clues(PEOPLE, HOSTS, GROUPS, KNOWN).unique("person").sort("person")
    assert found["first"].to_list() == [1, 1, 2, 2]
    assert found["releases"].to_list() == [2, 2, 1, 1]
    assert found["counterfeits"].to_list() == [0, 0, 1, 1]
    assert found["bounds"].to_list() == [2, 2, 2, 2]
    assert found["perimeter"].to_list() == pytest.approx([0.1, 0.1, 1.2, 1.2])
    assert found["eccentricity"].to_list() == pytest.approx([0.05, 0.05, 0.6, 0.6])


def test_clues_say_how_frequent_each_candidate_is():
    found = clues(PEOPLE, HOSTS, GROUPS, KNOWN).filter(person=3).sort("value")
    assert found["frequency"].to_list() == pytest.approx([2 / 5, 1 / 5, 1 / 5])
    assert found["frequency_rank"].to_list() == [3, 1.5, 1.5]
    assert found["fitted"].to_list() == pytest.approx([1 / 3] * 3)


def test_the_likeliest_candidate_is_guessed():
    found = pl.DataFrame({"series": 0, "person": [1, 1, 2, 2, 2], "value": list("abacd")})
    truth = pl.DataFrame({"series": 0, "person": [1, 2], "value": ["b", "a"]})
    guesses = guess(found, truth, np.array([0.1, 0.2, 0.3, 0.4, 0.1]))
    assert (guesses.people, guesses.right) == (2, 0.5)
    assert guesses.chance == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert guesses.error == pytest.approx((guesses.chance * (1 - guesses.chance) / 2) ** 0.5)
    assert guesses.excess == pytest.approx((0.5 - guesses.chance) / guesses.error)
