"""The pictures of the demo in README and docs, made from the product as it is (`make pictures`).

python -m docs.pictures HOME     HOME is where `republish demo --home HOME` was run; it takes Chromium
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import dagster as dg
from PIL import Image

from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.package_files import package_file
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from tests.browser import Page, browser, dagster_server
from tests.hospital import RELEASES, build
from tests.team import build_project

PICTURES = Path(__file__).parent / "pictures"
COLOURS = 128
RELEASE = "assets/hospital/release"
ASSETS = ("snapshot", "delta", "buckets", "release", "counterfeits", "audit", "publication")
UPSTREAM_KEY = dg.AssetKey(["warehouse", "patients"])
WIDE, GRAPH = (2700, 760), (250, 170, 2640, 760)
"""A window, and the part of it that shows a lineage: left, upper, right and lower end."""
SCROLL = """[...document.querySelectorAll("*")].find(
    each => each.children.length === 0 && each.textContent === "Metadata").scrollIntoView()"""


def main() -> None:
    """Make all pictures."""
    home = Home.named(Path(sys.argv[1]))
    checks = _checks(Series(load_contract(home.path / "demo/hospital.yaml"), home))
    with (
        dagster_server(home, package_file("workspace.yaml")) as address,
        browser(home.path / "browser", address) as page,
    ):
        page.resize(*WIDE)  # else Dagster leaves out all but the names
        page.open("locations/republish/asset-groups/hospital/lineage", *ASSETS, "Great Expectations", checks)
        _keep(page, "lineage", *WIDE, GRAPH)
        words = "At least 4 values", "people with a new signature"
        page.open(f"{RELEASE}?view=checks&checkDetail=m_uniqueness", *words)
        _keep(page, "checks", 1400, 900)
        page.open(f"{RELEASE}?view=overview", "mean error of counts")
        page.click("Plots", "mean width of age")
        page.run(SCROLL)
        _keep(page, "plots", 1400, 1000)
    report(home)
    component()


def component() -> None:
    """Make the picture of a team's project with the hospital among its assets, and two releases made."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hospital").mkdir()
        hospital = build(folder / "hospital", 2)
        releases = {"releases": {"last": RELEASES[1]}}
        contract = build_project(folder / "project", hospital, **releases) / "defs.yaml"
        source, home = folder / "project/src", Home.at(folder / "project/var")
        sys.path.insert(0, str(source))
        os.environ["DELIVERED"] = str(hospital.folder / "snapshots/hospital")
        from warehouse.definitions import defs  # noqa: PLC0415 - written just now

        with dagster_instance(home) as instance:
            whole, ours = defs(), defs().resolve_job_def("release_hospital")
            made = [(whole.resolve_implicit_global_asset_job_def(), [UPSTREAM_KEY]), (ours, None)]
            for release in RELEASES[:2]:
                for job, assets in made:
                    job.execute_in_process(instance=instance, partition_key=release, asset_selection=assets)
        origin = {"module_name": "warehouse.definitions", "location_name": "warehouse"}
        (folder / "workspace.yaml").write_text(json.dumps({"load_from": [{"python_module": origin}]}))
        paths = os.pathsep.join([str(source), str(PICTURES.parents[1])])
        with (
            dagster_server(home, folder / "workspace.yaml", PYTHONPATH=paths) as address,
            browser(folder / "browser", address) as page,
        ):
            page.resize(*WIDE)
            checks = _checks(Series(load_contract(contract), home))
            lineage = "locations/warehouse/asset-groups/hospital/lineage"
            page.open(lineage, *ASSETS, "patients", "Great Expectations", checks)
            _keep(page, "component", *WIDE, GRAPH)


def report(home: Home) -> None:
    """Make the picture of the report."""
    written = _report(home)
    with browser(home.path / "browser", written.parent.as_uri()) as page:
        page.open(written.name, "Conclusion")
        _keep(page, "report", 900, 1160)


def _checks(series: Series) -> str:
    """How the lineage says that every check of the last release passed."""
    last = series.releases[-1]
    committed = series.record(last)
    assert committed is not None, f"{series.home.path}: run republish demo there first"
    return f"{len(committed.verdicts)} / {len(committed.verdicts)} Passed"


def _report(home: Home) -> Path:
    """The report of an audit of the demo."""
    out = home.path / "report"
    truth, contract = home.path / "demo/snapshots/hospital", home.path / "demo/hospital.yaml"
    options = ["--truth", truth, "--contract", contract, "--private", home.path / "private", "--out", out]
    command = [sys.executable, "-m", "republish", "audit", home.published("hospital", "v1")]
    subprocess.run([*map(str, (*command, *options))], check=True)
    return out / "audit.html"


def _keep(page: Page, name: str, width: int, height: int, part: tuple | None = None) -> None:
    """Write a page, or a part of it, with few colours: it has few, and the file is a third as large."""
    shown = Image.open(io.BytesIO(page.picture(width, height))).crop(part or (0, 0, width, height))
    shown.convert("RGB").quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
