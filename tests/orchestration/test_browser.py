"""What a publisher sees in a browser: one server, one home, pages as Chromium renders them."""

import re

import pytest
import yaml

from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.run import make_release
from republish.orchestration.package_files import package_file
from tests.browser import CHROMIUM, browser, dagster_server
from tests.hospital import RELEASES, build, make

pytestmark = pytest.mark.slow("starts a browser")

FIRST, SECOND, _ = RELEASES
WAREHOUSE = """
import dagster as dg

@dg.asset(key=["warehouse", "patients"])
def patients(): ...

defs = dg.Definitions([patients])
"""
"""Another code location, whose asset is upstream of the product."""
PLOTTED = """(() => {
    const plotted = {};
    for (const canvas of document.querySelectorAll("canvas")) {
        let node = canvas[Object.keys(canvas).find(key => key.startsWith("__reactFiber$"))];
        while (node && !node.memoizedProps?.data?.datasets) node = node.return;
        for (const {label, data} of node ? node.memoizedProps.data.datasets : [])
            plotted[label] = data.map(point => point.y).filter(Number.isFinite);
    }
    return plotted;
})()"""
"""The figures of every plot on the page, which are drawn and stand nowhere as text."""


DRAWN = """document.querySelectorAll("[role=dialog] img, .bp5-dialog img, .bp4-dialog img").length"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with two products: one has something upstream, the other one has begun its second series."""
    if CHROMIUM is None:
        pytest.skip("no browser here: none of the programs chromium, chromium-browser and google-chrome")
    folder = tmp_path_factory.mktemp("browser")
    for product in ("hospital", "clinic"):
        (folder / product).mkdir()
    hospital = build(folder / "hospital", releases=2).declare(upstream=["warehouse/patients"])
    beside = {"product": "clinic", "same_people": {"hospital": "separate_readers"}}
    clinic = build(folder / "clinic", releases=2).declare(beside)
    later = {**beside, "series": "v2", "supersedes": "v1", "expect": {"changed": 0.5}}
    series = hospital.series(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DAGSTER_HOME", "")
        make(series, FIRST)
        with dagster_instance(series.home) as instance:
            make_release(series, SECOND, instance)
            for release in (FIRST, SECOND):
                make_release(clinic.series(series.home.path), release, instance)
            make_release(clinic.declare(later).series(series.home.path), FIRST, instance)
        for file in (series.file, clinic.series(series.home.path).file):
            register(series.home, file)
    return series.home


@pytest.fixture(scope="module")
def server(home):
    """The address of Dagster's server of the home."""
    (home.path / "warehouse.py").write_text(WAREHOUSE)
    workspace = home.path / "workspace.yaml"
    warehouse = [{"python_file": {"relative_path": "warehouse.py", "location_name": "warehouse"}}]
    own = yaml.safe_load(package_file("workspace.yaml").read_text())["load_from"]
    workspace.write_text(yaml.safe_dump({"load_from": [*warehouse, *own]}))
    with dagster_server(home, workspace) as address:
        yield address


@pytest.fixture(scope="module")
def page(home, server):
    with browser(home.path / "browser", server) as opened:
        yield opened


# ---- lineage


def test_the_lineage_has_every_asset_of_the_product(page):
    assets = ["snapshot", "delta", "buckets", "release", "counterfeits", "audit", "publication"]
    page.open("locations/republish/asset-groups/hospital/lineage", *assets)


def test_the_lineage_goes_on_upwards_and_downwards(page):
    page.open("assets/hospital/snapshot?view=lineage", "patients", "delta", "Never materialized")
    shown = page.open("assets/hospital/snapshot?view=overview", "Downstream assets", "hospital / delta")
    assert "warehouse / patients" in shown[shown.index("Upstream assets") : shown.index("Downstream assets")]


# ---- runs


def test_the_runs_of_the_command_are_on_the_page_of_runs(page):
    page.open("runs", "Success", f"partition: {SECOND}", "republish/series: v1", "republish/series: v2")


# ---- checks


def test_a_check_says_what_was_promised_and_found(page):
    found = "At least 3 values in each group with anybody new: fewest found 3."
    path = "assets/hospital/release?view=checks&checkDetail=m_uniqueness"
    shown = page.open(path, "This is a blocking asset check.", found, "people with a new signature")
    assert re.search(r"people with a new signature \d+ .*Plots", shown)


def test_every_check_of_a_release_is_listed_as_passed(page):
    names = ["m_uniqueness", "signature_invariance", "counterfeits", "minimum_widths", "coverage", "attack"]
    shown = page.open("assets/hospital/release?view=checks", *names, "Passed")
    assert "Failed" not in shown


def test_the_report_of_a_publication_has_a_line_for_each_check(page):
    page.open("assets/hospital/publication?view=overview", "report", "Show Markdown")
    shown = page.click("[Show Markdown]", f"hospital/v1, {SECOND}", "attack holds")
    assert "m_uniqueness holds. At least 3 values in each group with anybody new: fewest found 3." in shown


# ---- figures and plots


def test_the_figures_of_a_release_are_on_its_page(page):
    shown = page.open("assets/hospital/release?view=overview", "mean error of counts (%)", "interval widths")
    fewest = "possible values left, by group (fewest)"
    error = "mean error of counts (%)"
    for name, figure in (("people released", "300"), (fewest, "3"), (error, r"\d+(\.\d+)?")):
        assert re.search(rf"\b{re.escape(name)} .{{0,60}}?\b{figure}\b", shown), name
    assert "Unsynced" not in shown


def test_figures_are_plotted_over_the_releases(page):
    page.open("assets/clinic/release?view=overview", "mean error of counts (%)")
    page.click("Plots", "mean width of age (years)")
    plotted = page.run(PLOTTED)
    assert plotted["people released"] == [300, 300]
    assert plotted["possible values left, by group (fewest)"] == [3, 3]
    assert plotted["counterfeits"][0] == 0
    assert all(0 < error < 200 for error in plotted["mean error of counts (%)"])
    assert len(plotted["mean width of age (years)"]) == 2


def test_what_was_promised_and_found_is_on_the_page_of_the_audit(page):
    page.open("assets/clinic/audit?view=overview", "promised and found, over the releases", "Show Markdown")
    shown = page.click("[Show Markdown]", "How many values are possible for a person", "The largest risk")
    promised = shown[shown.index("How many values are possible") :].count("(promised: at ")
    assert promised + page.run(DRAWN) >= 2  # sentences where nothing moves, else pictures


# ---- a second series


def test_an_earlier_series_is_there_to_be_looked_at(page):
    words = ("Series v1, as it was left.", "External Asset", "republish/series: v1")
    page.open("assets/clinic/release?view=overview", *words)
    shown = page.open("assets/clinic/release?view=partitions", FIRST, SECOND, "Materialized (2)")
    assert "Missing (0)" in shown
    page.open("assets/clinic/publication?view=overview", "Show Markdown")
    page.click("[Show Markdown]", f"clinic/v1, {SECOND}", "attack holds")


def test_a_second_series_has_releases_and_plots_of_its_own(page):
    page.open("assets/clinic/v2/release?view=partitions", "Materialized (1)")
    page.open("assets/clinic/v2/release?view=overview", "republish/series: v2", "mean error of counts (%)")
    page.click("Plots", "people released")
    assert page.run(PLOTTED)["people released"] == [300]
    shown = page.open("assets/clinic/v2/buckets?view=overview", "Downstream assets", "clinic / v2 / release")
    upstream = shown[shown.index("Upstream assets") : shown.index("Downstream assets")]
    assert "clinic / publication" in upstream


# ---- what the docs say of backfills


def test_the_dialog_of_a_backfill_hides_older_releases_until_all_are_shown(page):
    page.open("locations/republish/jobs/release_clinic", "Materialize all…")
    hidden = page.click("Materialize all…", "Show all partitions", "Failed and missing")
    assert "older partitions are outside this range and won't be included" in hidden
    assert "Backfill only failed and missing partitions within selection" in hidden
    page.click("Show all partitions", FIRST)
