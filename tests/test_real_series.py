"""Real people who come, go, return and change: every release of them holds against the attacks."""

import numpy as np
import polars as pl
import pytest

from benchmarks import real_data
from republish.anonymize.m_invariance.release import release
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract
from tests.attacks import attack_releases
from tests.series import entered

FOLDER = real_data.data_folder()


def series(name):
    if name == "adult":
        return real_data.adult_contract(FOLDER), real_data.adult_series(FOLDER)
    return real_data.receipts_contract(), real_data.receipts_series(FOLDER)


@pytest.mark.slow("makes many releases")
@pytest.mark.skipif(FOLDER is None, reason=real_data.WHY_NOT)
@pytest.mark.parametrize("name", ["adult", "receipts"])
def test_every_release_of_real_people_withstands_the_attacks(name):
    declared, snapshots = series(name)
    contract = parse_contract({**declared, "source": {"path": "{release}.parquet"}})

    def made():
        state = State.empty()
        for number, (_, snapshot) in enumerate(snapshots, start=1):
            people = entered(snapshot, contract)
            candidate = release(
                people.drop("identifier"),
                contract,
                state,
                number,
                lambda purpose: np.random.default_rng(len(purpose)),
            )
            figures = candidate.figures
            assert figures.people + figures.held_back == snapshot.height
            assert not figures.held_back or getattr(contract.principle, "people_per_group", 1) > 1
            yield contract, people, candidate
            state = candidate.state

    for number, found in enumerate(attack_releases(made()), start=1):
        broken = found.findings.filter(pl.col("broken") > 0)
        assert broken.is_empty(), f"release {number}: {broken['promise'].to_list()}"
    assert number >= 10
