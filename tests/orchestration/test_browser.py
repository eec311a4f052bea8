"""What a publisher sees in a browser: one server, one home, pages as Chromium renders them."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress

import pytest
import yaml

from orchestration.contracts.registry import register
from orchestration.product.releasing import dagster_instance, make_release
from orchestration.shipped import shipped
from tests.hospital import KEY, RELEASES, build, make

FIRST, SECOND, _ = RELEASES
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WAREHOUSE = """
import dagster as dg

@dg.asset(key=["warehouse", "patients"])
def patients(): ...

defs = dg.Definitions([patients])
"""
"""Another code location, whose asset is upstream of the product."""
PATIENCE = 120
"""Seconds to wait for a server, or a page, on a machine that is busy."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home in which the second release was made through Dagster, of a product with something upstream."""
    if CHROMIUM is None:
        pytest.skip("no browser here: none of the programs chromium, chromium-browser and google-chrome")
    folder = tmp_path_factory.mktemp("browser")
    (folder / "hospital").mkdir()
    hospital = build(folder / "hospital", releases=2).declare(upstream=["warehouse/patients"])
    series = hospital.series(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("REPUBLISH_KEY", KEY)
        environment.setenv("DAGSTER_HOME", "")
        make(series, FIRST)
        register(series.home, series.file)
        with dagster_instance(series.home) as instance:
            make_release(series, SECOND, instance)
    return series.home


@pytest.fixture(scope="module")
def page(home):
    """Read a page of the server: the words on it, once its scripts have run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    host, port = address.split(":")
    (home.path / "warehouse.py").write_text(WAREHOUSE)
    workspace = home.path / "workspace.yaml"
    warehouse = [{"python_file": {"relative_path": "warehouse.py", "location_name": "warehouse"}}]
    own = yaml.safe_load(shipped("workspace.yaml").read_text())["load_from"]
    workspace.write_text(yaml.safe_dump({"load_from": [*warehouse, *own]}))
    words = ["-m", "dagster_webserver", "--workspace", str(workspace)]
    environment = os.environ | {"DAGSTER_HOME": str(home.dagster), "REPUBLISH_HOME": str(home.path)}
    server = subprocess.Popen(
        [sys.executable, *words, "--host", host, "--port", port],
        env=environment | {"REPUBLISH_KEY": KEY},
        cwd=home.dagster,
        stderr=subprocess.DEVNULL,
    )

    def read(path):
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1200"]
        shown = subprocess.run(
            [
                *(CHROMIUM, *options, "--virtual-time-budget=20000"),
                *(f"--user-data-dir={home.path}/browser", "--dump-dom", f"http://{address}/{path}"),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        ).stdout
        body = re.sub(r"<(style|script).*?</\1>", " ", shown, flags=re.DOTALL)
        return " ".join(re.sub(r"<[^>]*>", " ", body).split())

    try:
        _wait_for(host, port, server)
        yield read
    finally:
        server.terminate()
        server.wait()


def _wait_for(host, port, server):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        with suppress(OSError), socket.create_connection((host, int(port))):
            return
        time.sleep(0.2)
    pytest.fail("Dagster's server did not start")


def test_the_lineage_has_every_asset_of_the_product(page):
    shown = page("locations/republish/asset-groups/hospital/lineage")
    assets = ["snapshot", "delta", "buckets", "release", "counterfeits", "audit", "publication"]
    assert [asset for asset in assets if asset not in shown] == []


def test_the_lineage_goes_on_upwards(page):
    shown = page("assets/hospital/snapshot?view=overview")
    upstream = shown[shown.index("Upstream assets") : shown.index("Downstream assets")]
    assert "warehouse / patients" in upstream


def test_the_runs_of_the_command_are_on_the_page_of_the_job(page):
    shown = page("locations/republish/jobs/release_hospital/runs")
    assert "Success" in shown
    assert f"partition: {SECOND}" in shown
    assert "republish/series: v1" in shown


def test_a_check_says_what_was_promised_and_found(page):
    shown = page("assets/hospital/release?view=checks&checkDetail=m_uniqueness")
    assert "This is a blocking asset check." in shown
    assert "At least 3 values in each group with anybody new: fewest found 3." in shown
    assert re.search(r"Plots .*newcomers", shown)


def test_the_figures_of_a_release_are_on_its_page(page):
    shown = page("assets/hospital/release?view=overview")
    for name, figure in (("people", "300"), ("fewest candidates", "3"), ("query error", r"0\.\d+")):
        assert re.search(rf"\b{name} .{{0,60}}?\b{figure}\b", shown), name
    assert "interval widths" in shown
    assert "Unsynced" not in shown
