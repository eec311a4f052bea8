"""Compile the numba kernels, so that no test waits for it: `make test` runs this.

numba compiles a loop for the types that it is called with and keeps the result beside the source. Which types
these are is written down nowhere: a few made-up patients are released and attacked under every principle.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.attack.coverage import covering
from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import ViewContract
from republish.anonymize.contract.combined import combine
from republish.anonymize.errors import NotEligible
from republish.anonymize.kernels.compiled import interpreter
from republish.anonymize.kernels.csv_records import csv_records
from republish.anonymize.people.randomness import generator
from republish.anonymize.people.rows import keyed
from republish.anonymize.principle.state import State
from republish.anonymize.principles import PRINCIPLES, parse_contract, principle_of
from republish.anonymize.promise.attacked import attack
from republish.orchestration.demo.hospital import DISEASES, hospital_snapshots
from republish.orchestration.snapshots.sources import enter

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
SEVERAL = [{"name": "disease"}, {"name": "ward"}, {"name": "day"}]
OF_SEVERAL = {"m": 2, "people_per_group": 2, "on_value_change": "refuse", "on_ineligible": "wait"}
OF_ROWS = {"m": 3, "values_per_person": 2}
KNOWN = min(DISEASES)
OF_KNOWN = {"m": 3, "on_ineligible": "wait"}
FEW = 100
"""Patients who all live in one cell."""


def compile_kernels(patients: int = 1_300) -> None:
    """Release and attack some made-up patients twice under every principle, on no disk.

    Parameters
    ----------
    patients
        The number of patients in each release: enough to be divided into regions.
    """
    interpreter.stop()
    csv_records(np.frombuffer(b"patient_id,age\n", np.uint8), ord(","), 0, 2, True)
    covering(pl.DataFrame({"qi_0": [0]}), pl.DataFrame({"qi_0_low": [0], "qi_0_high": [0]}))  # an audit's
    first, second = (table for _, table in hospital_snapshots(2, patients))
    columns: dict[str, Any]
    for principle in PRINCIPLES.values():
        if principle.contract is ViewContract:  # all of its releases are about the same people
            columns, snapshots = {"columns": [AGE, SEX, DISEASE]}, [first] * 3
        else:
            sensitive = {"name": "disease", "semantics": principle.semantics[0]}
            columns, snapshots = {"quasi_identifiers": [AGE, SEX], "sensitive": sensitive}, [first, second]
        for parameters in principle.warm_up:
            declared = {**DECLARED, **columns, "principle": {"name": principle.name, **parameters}}
            with suppress(NotEligible):  # of a principle that makes a single release
                _release(snapshots, parse_contract(declared))
        if not principle.one_column:
            # Groups of two columns are found in another way, and so are those of few people.
            for number, people in ((2, first), (3, first), (2, first.head(FEW))):
                several = {"quasi_identifiers": [AGE], "sensitive": SEVERAL[:number]}
                declared = {**DECLARED, **several, "principle": {"name": principle.name, **OF_SEVERAL}}
                _release([_with_wards(people)], parse_contract(declared))
            known = {"quasi_identifiers": [AGE], "sensitive": {"name": "disease", "not_sensitive": [KNOWN]}}
            declared = {**DECLARED, **known, "principle": {"name": principle.name, **OF_KNOWN}}
            _release([_half_known(first), _half_known(second)], parse_contract(declared))
        # Of several rows, other principles call no kernel that they don't call of one.
        if "values_per_person" in principle.parameters.model_fields:
            visits = {"quasi_identifiers": [AGE], "sensitive": {"name": "disease"}, "rows": "several"}
            declared = {**DECLARED, **visits, "principle": {"name": principle.name, **OF_ROWS}}
            _release([pl.concat([first, first])], parse_contract(declared))


def _with_wards(patients: pl.DataFrame) -> pl.DataFrame:
    """Patients with a ward and a day, so that there are up to three sensitive columns."""
    number = pl.int_range(pl.len())
    return patients.with_columns(ward=(number % 7).cast(pl.String), day=number % 5)


def _half_known(patients: pl.DataFrame) -> pl.DataFrame:
    """Patients half of whom have a value that may be known, so that groups have it several times."""
    is_known = pl.int_range(pl.len()) % 2 == 0
    return patients.with_columns(disease=pl.when(is_known).then(pl.lit(KNOWN)).otherwise("disease"))


def _release(snapshots: list[pl.DataFrame], contract: Any) -> None:
    principle = principle_of(contract)
    promise, release_format = principle.promise(contract.principle), principle.format(contract)
    state, knowledge = State.empty(), None
    for number, snapshot in enumerate(snapshots, start=1):
        people = combine(enter(snapshot[list(contract.column_names().values())], contract), contract)
        people = keyed(people, contract, KEY)
        made = principle.release(
            people.drop(IDENTIFIER),
            contract,
            state,
            number,
            partial(generator, KEY, "hospital", "v1", str(number)),
        )
        found = attack(
            contract.table_schema,
            release_format,
            made.published,
            people.rename({PSEUDONYM: "person"}),
            [promise] * number,
            knowledge,
            linkage=made.linkage.rename({PSEUDONYM: "person"}),
            held_back=made.figures.held_back,
        )
        state, knowledge = made.state, found.knowledge


if __name__ == "__main__":
    compile_kernels()
