"""A series as it lies with the publisher and with the public, with manifests, for audits."""

import json

import polars as pl
import pyarrow.parquet as pq
import yaml
from rich.console import Console

from republish.orchestration.audit.command import audit
from republish.orchestration.readers.datapackage.folder import texts_of_package
from republish.orchestration.storage.manifest import DATA_PACKAGE, MANIFEST, Manifest, manifest, sums
from republish.orchestration.storage.parts import part_name, table_of
from republish.orchestration.storage.store import SUMS, sha256, write_table
from tests.anonymize.attack.attack_series import contract, publish, snapshots

NAMES = ("2024-01-01", "2024-02-01", "2024-03-01")


def write_series(folder, m=3, count=120):
    """Three releases: contract, truth, published and private tables; returns the published series."""
    declared = contract(m=m)
    told = {
        "identifier": "patient",
        "quasi_identifiers": [
            qi.model_dump(mode="json", exclude_none=True) for qi in declared.quasi_identifiers
        ],
        "sensitive": declared.sensitive.model_dump(mode="json", exclude_none=True),
        "principle": {"name": "m_invariance", "m": m},
    }
    (folder / "contract.yaml").write_text(yaml.safe_dump(told))
    (folder / "truth").mkdir()
    series = folder / "published/hospital/v1"
    tables = list(snapshots(count=count, releases=len(NAMES)))
    for name, release in zip(NAMES, publish(tables, declared), strict=True):
        release.snapshot.write_parquet(folder / f"truth/{name}.parquet")
        write_tables(series / name, release.tables)
        write_tables(folder / f"private/hospital/v1/{name}", {"linkage": release.linkage})
    write_manifests(series, declared)
    return series


def write_tables(folder, tables):
    folder.mkdir(parents=True)
    for name, table in tables.items():
        write_table(folder / f"{name}.parquet", table)


def write_manifests(series, declared, **described):
    """Honest manifests of everything in a series' folder, but for what is described otherwise."""
    before = None
    for n, folder in enumerate(sorted(series.iterdir()), start=1):
        microdata = pl.read_parquet(folder / "microdata.parquet")
        stated = {
            "product": "hospital",
            "series": "v1",
            "release": folder.name,
            "n": n,
            "format": "generalization",
            "principle": declared.principle.model_dump(mode="json"),
            "tuples": len(microdata),
            "groups": microdata["group_id"].n_unique(),
            "counterfeits": pl.read_parquet(folder / "counterfeits.parquet")["count"].sum(),
            "held_back": 0,
            "contract_sha256": "0" * 64,
            "previous": before,
        }
        written = manifest(Manifest(**stated | described), folder)
        (folder / "manifest.json").write_text(json.dumps(written))
        before = sha256(folder / "manifest.json")


def forge(release, **claims):
    """Change what a manifest says, and nothing else."""
    file = release / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | claims))


def rewrite(release, name, change):
    """Publish another table under a name, with a manifest that says the same of it."""
    file = release / f"{name}.parquet"
    write_table(file, change(pl.read_parquet(file)))
    stated = json.loads((release / "manifest.json").read_text())
    stated["files"][file.name] = {"sha256": sha256(file), "rows": pl.read_parquet(file).height}
    forge(release, files=stated["files"])


def seal(folder):
    """Let manifest and sums say the truth of what the files are now."""
    stated = json.loads((folder / MANIFEST).read_text())
    for name, one in stated["files"].items():
        one["sha256"] = sha256(folder / name)
        if "rows" in one:
            one["rows"] = pq.read_metadata(folder / name).num_rows
    (folder / MANIFEST).write_text(json.dumps(stated))
    (folder / SUMS).write_text(sums(folder, stated))


def write_parts(folder, table, rows):
    """Write a table in parts of so many rows; returns their files."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [*table.iter_slices(rows)] or [table]
    files = [folder / part_name(number) for number in range(len(parts))]
    for file, part in zip(files, parts, strict=True):
        write_table(file, part)
    return files


def divide(series, rows):
    """Let every release of a series be what it would be if its tables were in parts of so many rows."""
    before = None
    for release in sorted(series.iterdir()):
        stated = json.loads((release / MANIFEST).read_text())
        package = json.loads((release / DATA_PACKAGE).read_text())
        for resource in package["resources"]:
            file = release / resource["path"]
            if table_of(file.name):
                parts = write_parts(release / file.stem, pl.read_parquet(file), rows)
                file.unlink()
                del stated["files"][file.name]
                resource["path"] = [f"{file.stem}/{part.name}" for part in parts]
                stated["files"] |= {name: {"rows": 0} for name in resource["path"]}
        for name, content in texts_of_package(package).items():
            (release / name).write_text(content)
        stated["files"] = dict(sorted(stated["files"].items()))
        (release / MANIFEST).write_text(json.dumps(stated | {"previous": before}, indent=2))
        seal(release)
        before = sha256(release / MANIFEST)


def run(folder, *, linked=True, contract="contract.yaml", **options):
    """The exit code of an audit, and the promises that are broken."""
    options = {"out": folder / "report", "console": Console(quiet=True)} | options
    code = audit(
        [folder / "published/hospital"],
        folder / "truth",
        folder / contract,
        private=folder / "private" if linked else None,
        **options,
    )
    rows = json.loads((options["out"] / "audit.json").read_text())
    return code, {row["promise"] for row in rows["promises"] if not row["holds"]}
