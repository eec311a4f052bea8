"""Compile the numba kernels, so that nobody waits for it in their first release: `make setup` runs this.

numba compiles a loop for the types that it is called with and keeps the result beside the source. Which types
these are is written down nowhere: a few made-up patients are released and attacked under every principle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from anonymize.attack.attacks import attack
from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.kernels.csv_records import csv_records
from anonymize.people.pseudonyms import pseudonyms
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract, principle_of
from orchestration.demo.hospital import DISEASES, hospital_snapshots
from orchestration.snapshots.sources import enter

KEY = b"nobody is protected here"
DECLARED = {
    "product": "hospital",
    "series": "v1",
    "source": {"path": "{release}.parquet"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
    "identifier": "patient_id",
}
AGE = {"name": "age", "kind": "number", "domain": [0, 120]}
SEX = {"name": "sex", "kind": "category", "order": ["F", "M"]}
DISEASE = {"name": "disease", "kind": "category", "order": sorted(DISEASES), "keep": True}
PEOPLE = {"quasi_identifiers": [AGE, SEX], "sensitive": {"name": "disease"}}
TRANSIENT = {**PEOPLE, "sensitive": {"name": "disease", "semantics": "transient"}}
VIEW = {"columns": [AGE, SEX, DISEASE]}
Declared = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A contract's columns and its principle."""
SERIES: tuple[Declared, ...] = (
    (PEOPLE, {"name": "m_invariance", "m": 3, "on_ineligible": "counterfeit"}),
    (PEOPLE, {"name": "e_equivalence", "m": 3, "e": 2, "on_ineligible": "counterfeit"}),
    (TRANSIENT, {"name": "global_guarantee", "l": 2, "strategy": "minimum"}),
)
ONE_RELEASE: tuple[Declared, ...] = tuple(
    (PEOPLE, {"name": "streamliner", "l": 2, "method": method}) for method in ("gda", "rda", "ria")
)
_VIEW = {"name": "sequential", "x": ["age", "sex"]}
SAME_PEOPLE: tuple[Declared, ...] = (
    (VIEW, _VIEW | {"requirement": "anonymity", "k": 2, "y": ["patient_id"]}),
    (VIEW, _VIEW | {"requirement": "linkability", "k": 0.9, "y": ["disease"]}),
)
"""Of which every release is about the people of the first."""


def compile_kernels(patients: int = 1_300, releases: int = 2) -> None:
    """Release and attack some made-up patients under every principle, on no disk.

    Parameters
    ----------
    patients
        How many are in each release: enough to be divided into regions.
    releases
        Of the principles that release again and again.
    """
    csv_records(np.frombuffer(b"patient_id,age\n", np.uint8), ord(","))
    snapshots = [table for _, table in hospital_snapshots(releases, patients)]
    first, *_ = snapshots
    for declared, tables in ((SERIES, snapshots), (ONE_RELEASE, [first]), (SAME_PEOPLE, [first, first])):
        for columns, principle in declared:
            _release(tables, parse_contract({**DECLARED, **columns, "principle": principle}))


def _release(snapshots: list[pl.DataFrame], contract: Any) -> None:
    principle = principle_of(contract)
    promise, release_format = principle.promise(contract.principle), principle.format(contract)
    state, knowledge = State.empty(), None
    for number, snapshot in enumerate(snapshots, start=1):
        people = enter(snapshot.select(contract.column_names().values()), contract)
        people = people.with_columns(pseudonyms(people[IDENTIFIER], KEY).alias(PSEUDONYM)).sort(PSEUDONYM)
        made = principle.release(
            people.drop(IDENTIFIER),
            contract,
            state,
            number,
            lambda purpose, number=number: generator(KEY, "hospital", "v1", str(number), purpose),
        )
        found = attack(
            contract.table_schema,
            release_format,
            made.published,
            people.rename({PSEUDONYM: "person"}),
            [promise] * number,
            knowledge,
            linkage=made.linkage.rename({PSEUDONYM: "person"}),
            held_back=made.figures["held_back"],
        )
        state, knowledge = made.state, found.knowledge


if __name__ == "__main__":
    compile_kernels()
