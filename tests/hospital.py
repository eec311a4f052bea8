"""A small hospital with a contract, to be released in tests; nobody in it is real."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import pytest
import yaml
from rich.console import Console

from republish.orchestration.audit.command import audit
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.dagster.factory import product_definitions
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.run import make_release
from republish.orchestration.demo.hospital import CONTRACT, hospital_snapshots
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

KEY = "a key that is made up for tests"
ROOT = Path(__file__).parents[1]
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""What Dagster is told, so that it says nothing of a run."""
RELEASES = ("2024-01-01", "2024-04-01", "2024-07-01")
PATIENTS = 300
IDENTIFIER = re.compile(rb"P\d{8}")
"""What every identifier looks like, and nothing else does."""
WORKING_FILES = re.compile(r"/(log\.jsonl|\.lock|\.releasing|\.unfinished|\.[a-z]+-lock)$|/dagster(/|$)")


@dataclass(frozen=True)
class Hospital:
    """A folder with a contract, its hierarchies and its snapshots."""

    folder: Path

    @property
    def contract(self):
        return self.folder / "hospital.yaml"

    def declare(self, changes=None, **keys):
        """Write the contract, with keys (`principle={"m": 3}`) changed."""
        declared = yaml.safe_load(CONTRACT.read_text()) | {"releases": {"first": RELEASES[0]}}
        declared["releases"]["cron"] = "0 0 1 */3 *"
        declared["principle"] |= {"m": 3, "on_ineligible": "counterfeit", "people_per_group": 2}
        for key, value in ((changes or {}) | keys).items():
            if isinstance(value, dict) and isinstance(declared.get(key), dict):
                declared[key] |= value
            else:
                declared[key] = value
        declared["releases"]["first"] = str(declared["releases"]["first"])
        self.contract.write_text(yaml.safe_dump(declared, sort_keys=False))
        return self

    def under(self, principle, **keys):
        """Write the contract under another principle, with no parameter of the one it had."""
        declared = yaml.safe_load(self.declare(**keys).contract.read_text()) | {"principle": principle}
        if principle["name"] == "e_equivalence" or principle.get("format") == "anatomy":
            for attribute in declared["quasi_identifiers"]:
                attribute.pop("min_width", None)  # quasi-identifiers are published as they are
        self.contract.write_text(yaml.safe_dump(declared, sort_keys=False))
        return self

    def file(self, release):
        return self.folder / f"snapshots/hospital/{release}.parquet"

    def snapshot(self, release):
        return pl.read_parquet(self.file(release))

    def deliver(self, release, snapshot):
        self.file(release).parent.mkdir(parents=True, exist_ok=True)
        snapshot.write_parquet(self.file(release))

    def identifiers_in(self, content):
        """Identifiers of patients in some bytes. In a large binary file, others look like one by chance."""
        files = (self.folder / "snapshots/hospital").glob("*.parquet")
        patients = {name.encode() for file in files for name in pl.read_parquet(file)["patient_id"]}
        return patients & set(IDENTIFIER.findall(content))

    def series(self, home):
        return Series(load_contract(self.contract), Home.at(home))


def build(folder, releases=3):
    """A hospital of 300 patients, half a year long."""
    hospital = Hospital(folder).declare()
    shutil.copytree(CONTRACT.parent / "hierarchies", folder / "hierarchies")
    for release, snapshot in hospital_snapshots(releases, PATIENTS):
        hospital.deliver(release, snapshot)
    return hospital


def make(series, *releases):
    """Releases by their four steps, without Dagster."""
    for release in releases:
        take_snapshot(series, release)
        compare_snapshots(series, release)
        compute_candidate(series, release)
        publish(series, release)
    return series


def definitions(series):
    """The series' product, as Dagster loads it."""
    return product_definitions(series)


def make_by_dagster(series, *releases):
    """Releases as the command line makes them."""
    with dagster_instance(series.home) as instance:
        return [make_release(series, release, instance) for release in releases]


def begin(contract, home, through):
    """`republish release`, as a process of its own."""
    words = ["release", contract, "--home", home, "--through", through]
    command = [sys.executable, "-m", "republish", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, env=several_threads(), **pipes)


@contextmanager
def only_verdicts():
    """Let audits leave out what no verdict depends on: guesses, and what a table is worth."""
    with pytest.MonkeyPatch.context() as patch:
        for measure in ("guess_values", "guess_presence", "usefulness"):
            patch.setattr(f"republish.orchestration.audit.series.{measure}", lambda *_: None)
        yield


def audited(hospital, series, folder, *, private=True, figures=False):
    """The exit code of `republish audit`, and the rows of its report by promise."""
    with nullcontext() if figures else only_verdicts():
        code = audit(
            [series.published_folder],
            hospital.file(RELEASES[0]).parent,
            hospital.contract,
            private=series.private_folder if private else None,
            out=folder,
            seconds=0.1,  # where equivalence is not promised, its figure may stay undecided
            console=Console(quiet=True),
        )
    described = json.loads((folder / "audit.json").read_text())
    return code, {row["promise"]: row for row in described["promises"]}


def several_threads():
    """The environment of a command that runs as a process of its own, with more threads than this one has."""
    return os.environ | {"POLARS_MAX_THREADS": "4", "NUMBA_NUM_THREADS": "4"}


def entered(home):
    """The releases of a home's history, in order."""
    with duckdb.connect(Path(home) / "history.duckdb", read_only=True) as history:
        return history.sql("SELECT * REPLACE (release::VARCHAR AS release) FROM releases ORDER BY n").pl()


def noted(home):
    """The lines of a home's log."""
    return [json.loads(line) for line in (Path(home) / "log.jsonl").read_bytes().splitlines()]


def manifest(home, release, series="v1"):
    """What a published release says of itself."""
    return json.loads((home / f"published/hospital/{series}/{release}/manifest.json").read_text())


def signatures(home, release, series="v1"):
    """Each person's signature, by identifier."""
    folder = home / f"private/hospital/{series}/{release}"
    buckets = pl.read_parquet(folder / "buckets.parquet")
    linkage = pl.read_parquet(folder / "linkage.parquet").join(buckets, on="bucket_id")
    return dict(linkage.select("patient_id", "signature").iter_rows())


def published(home):
    """Every published file's bytes, by its path."""
    folder = Path(home) / "published"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def everything(home):
    """Every file's bytes in a home, by its path, but for Dagster's and locks."""
    found = {f"/{path.relative_to(home)}": path for path in Path(home).rglob("*")}
    return {
        name: path.read_bytes() if path.is_file() else None
        for name, path in found.items()
        if not WORKING_FILES.search(name)
    }
