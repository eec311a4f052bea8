"""Real people who come, go, return and change: every release of them holds against the attacks."""

import numpy as np
import polars as pl
import pytest

from anonymize.attack.audit import audit_release
from anonymize.contract import parse_contract
from anonymize.m_invariance.release import release
from anonymize.pseudonyms import pseudonyms
from anonymize.state import State
from benchmarks import real_data

FOLDER = real_data.data_folder()


def series(name):
    if name == "adult":
        return real_data.adult_contract(FOLDER), real_data.adult_series(FOLDER)
    return real_data.receipts_contract(), real_data.receipts_series(FOLDER)


@pytest.mark.skipif(FOLDER is None, reason=real_data.WHY_NOT)
@pytest.mark.parametrize("name", ["adult", "receipts"])
def test_every_release_of_real_people_withstands_the_attacks(name):
    declared, snapshots = series(name)
    contract = parse_contract({**declared, "source": {"path": "{release}.parquet"}})
    state = knowledge = None
    for number, (_, snapshot) in enumerate(snapshots, start=1):
        people = snapshot.with_columns(
            pseudonym=pseudonyms(snapshot[contract.identifier], b"the key of a test")
        )
        state = state or State.empty(people.schema[contract.sensitive.name])
        made = release(people, contract, state, number, lambda purpose: np.random.default_rng(len(purpose)))
        found = audit_release(
            contract,
            made.published,
            people,
            number,
            knowledge,
            linkage=made.linkage,
            held_back=made.figures["held_back"],
            person="pseudonym",
        )
        broken = found.evidence.filter(pl.col("broken") > 0)
        assert broken.is_empty(), f"release {number}: {broken['promise'].to_list()}"
        assert made.figures["people"] == snapshot.height
        state, knowledge = made.state, found.knowledge
    assert number >= 10
