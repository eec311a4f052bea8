"""Real people who come, go, return and change: every release of them holds against the attacks."""

import numpy as np
import polars as pl
import pytest

from benchmarks import real_data
from republish.anonymize.m_invariance.release import release
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from republish.anonymize.promise.attacked import attack as attack_release
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
    principle = principle_of(contract)
    state, knowledge, promises = State.empty(), None, []
    for number, (_, snapshot) in enumerate(snapshots, start=1):
        people = entered(snapshot, contract)
        made = release(
            people.drop("identifier"),
            contract,
            state,
            number,
            lambda purpose: np.random.default_rng(len(purpose)),
        )
        promises.append(principle.promise(contract.principle))
        found = attack_release(
            contract,
            principle.format(contract),
            made.published,
            people.rename({"pseudonym": "person"}),
            promises,
            knowledge,
            linkage=made.linkage.rename({"pseudonym": "person"}),
            held_back=made.figures.held_back,
        )
        broken = found.findings.filter(pl.col("broken") > 0)
        assert broken.is_empty(), f"release {number}: {broken['promise'].to_list()}"
        assert made.figures.people + made.figures.held_back == snapshot.height
        assert not made.figures.held_back or getattr(contract.principle, "people_per_group", 1) > 1
        state, knowledge = made.state, found.knowledge
    assert number >= 10
