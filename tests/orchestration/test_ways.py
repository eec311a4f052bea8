"""By whichever way releases are made, the same bytes are published: those of `golden.json`."""

import json

import polars as pl
import pytest

import republish as rp
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.rehearsal import rehearsal, rehearse
from republish.orchestration.chain.snapshot import take_snapshot
from tests.hospital import KEY
from tests.test_golden import GOLDEN, RELEASES, delivered, of_release

SHAPES = [
    f"{case} in 1"
    for case in (
        "m_invariance of disease",
        "m_invariance, anatomy of cost",
        "m_invariance, waits of disease and treatment",
        "m_invariance, refuses of disease, none may be known",
        "m_invariance, several rows of disease",
        "e_equivalence of disease",
        "global_guarantee of disease",
        "streamliner of disease",
        "sequential of disease",
    )
]
"""Each principle and format, several columns, several rows, values that may be known, and numbers in bins.

Other cases have other parameters, or shards.
"""


def by_the_command(series, republish):
    """By Dagster, in one run for each release."""
    words = ("--home", series.home.path, "--through", RELEASES[-1])
    assert republish("release", series.file.path, *words)[::2] == (0, [])
    return {release: of_release(series.published(release)) for release in RELEASES}


def by_a_program(series, _):
    """By functions, with no home."""
    contract, state, found = rp.Contract.load(series.file.path), rp.State.begin(KEY), {}
    for release in RELEASES:
        people = pl.read_parquet(series.file.path.with_name(f"{release}.parquet"))
        made = rp.release(people, contract, state, date=release)
        found[release], state = of_release(made.write(series.home.path / "by a program")), made.state
    return found


def by_a_rehearsal(series, _):
    """By what `validate` and `examine` do, in a home that is deleted afterwards."""
    found = {}
    with rehearsal(series) as rehearsed:
        for release in RELEASES:
            take_snapshot(rehearsed, release)
            rehearse(rehearsed, release)
            publish(rehearsed, release)
            found[release] = of_release(rehearsed.published(release))
    assert not series.published_folder.exists()
    return found


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("way", [by_the_command, by_a_program, by_a_rehearsal])
@pytest.mark.parametrize("case", SHAPES)
def test_every_way_publishes_the_bytes_that_the_steps_publish(case, way, republish, tmp_path):
    assert way(delivered(case, tmp_path), republish) == json.loads(GOLDEN.read_text())[case]
