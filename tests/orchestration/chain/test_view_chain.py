"""Views through the whole chain: released, audited, joined with what others published, and refused."""

import json
import re
import shutil
from pathlib import Path

import dagster as dg
import frictionless
import polars as pl
import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from republish.anonymize.errors import (
    ContractError,
    NotEligible,
    PublishedFolderError,
    QueryError,
    SnapshotError,
)
from republish.orchestration import definitions
from republish.orchestration.audit.command import audit
from republish.orchestration.cli import app as cli
from republish.orchestration.cli.examine import examine
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.factory import product_definitions
from republish.orchestration.dagster.metadata import of_candidate
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.previous import read_previous
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import verify_series
from republish.orchestration.storage.parts import table_files
from republish.orchestration.storage.store import sha256
from tests import findings as fi
from tests.hospital import make, make_by_dagster, published
from tests.orchestration.audit.published_folders import divide

DOCS = Path(__file__).parents[3] / "docs/how-to/publish_a_view.md"
RELEASES = ("2024-01-01", "2025-01-01")
SUITES = ("join_privacy", "view_records", "taxonomy_cuts", "attack", "expected")


@pytest.fixture
def example(tmp_path):
    """The files of the docs' example, and T1 once more a year later."""
    (tmp_path / "t1").mkdir()
    for name, content in re.findall(r"cat > (\S+) <<'END'\n(.*?)END\n", DOCS.read_text(), re.DOTALL):
        (tmp_path / name).write_text(content)
    shutil.copy(tmp_path / "t1/2024-01-01.csv", tmp_path / "t1/2025-01-01.csv")
    return tmp_path


def declare(folder, **changes):
    """The example's contract with other parameters of its principle; other keys of the contract by `_key`."""
    declared = yaml.safe_load((folder / "named_view.yaml").read_text())
    for key, value in changes.items():
        (declared if key.startswith("_") else declared["principle"])[key.lstrip("_")] = value
    declared["releases"]["first"] = str(declared["releases"]["first"])
    (folder / "named_view.yaml").write_text(yaml.safe_dump(declared))
    return series_of(folder)


def series_of(folder):
    return Series(load_contract(folder / "named_view.yaml"), Home.at(folder / "var"))


def series_shown(series):
    """What Dagster plots first of the last release."""
    return of_candidate(series, RELEASES[1], series.committed(RELEASES[1]))["release"]


def audited(folder, *paths, **options):
    report = folder / "report"
    code = audit(
        list(paths) or [folder / "var/published/named_view/v1"],
        folder / "t1",
        folder / "named_view.yaml",
        out=report,
        console=Console(quiet=True),
        **options,
    )
    described = json.loads((report / "audit.json").read_text())
    return code, {row["promise"]: row for row in described["promises"]}


def test_people_of_a_view_are_counted_and_not_estimated(example):
    folder = make(series_of(example), RELEASES[0]).published(RELEASES[0])
    with pytest.raises(QueryError, match=r"is a view, .* so count the rows of view\.parquet"):
        estimate(folder)


@pytest.mark.slow("makes and audits many releases")
def test_two_views_are_released_through_dagster_verified_and_audited(example):
    series = series_of(example)
    released = make_by_dagster(series, *RELEASES)
    assert [(one.people, one.groups, one.counterfeits) for one in (made.counts for made in released)] == [
        (5, 2, 0)
    ] * 2
    folder = series.published(RELEASES[1])
    texts = {"README.md", "SHA256SUMS", "datapackage.json"}
    assert {file.name for file in folder.iterdir()} == {"cuts.json", "manifest.json", "view.parquet"} | texts
    assert frictionless.validate(str(folder / "datapackage.json")).valid
    said = (folder / "README.md").read_text()
    assert "a row for each person, and no identifier" in said
    assert "no row says" not in said  # its rows have names and classes as they are
    manifests = verify_series(series.published_folder)
    assert [stated["format"] for stated in manifests] == ["taxonomy_cuts"] * 2
    assert manifests[1]["files"]["cuts.json"] == {"sha256": sha256(folder / "cuts.json")}
    view = pl.read_parquet(folder / "view.parquet")
    assert view.columns == ["release", "name", "job", "class"]
    assert sorted(view["name"].to_list()) == ["Alice", "Alice", "B-C", "B-C", "B-C"]
    cuts = json.loads((folder / "cuts.json").read_text())["columns"]
    assert [node["label"] for node in cuts[0]["cut"]] == ["Alice", "B-C"]

    committed = series.committed(RELEASES[1])
    assert [verdict.promise for verdict in committed.verdicts] == list(SUITES)
    assert all(verdict.passed and verdict.figures["expectations"] for verdict in committed.verdicts)
    assert committed.figures["earlier_releases"] == 2
    assert committed.attack["linkability"] == pytest.approx(2 / 3)

    code, promises = audited(example, private=series.private_folder)
    assert code == 0
    assert promises[fi.JOIN]["found"] == pytest.approx(2 / 3)
    assert promises[fi.JOIN]["undecided"] == 0
    assert {fi.COVERAGE, fi.COUNTS, fi.ROW_ORDER, fi.IDENTIFIERS, fi.METADATA} <= promises.keys()
    assert "Residual risk: joined with the releases before it" in (example / "report/audit.html").read_text()
    (one,) = json.loads((example / "report/audit.json").read_text())["series"]
    useful = one["releases"][1]["useful"]
    assert (useful["groups"], useful["mean_group"], useful["widths"]["name"]) == (2, 2.5, (2 * 1 + 3 * 2) / 5)
    assert series_shown(series)["mean error of counts (%)"] == pytest.approx(
        100 * useful["query_error"], rel=0.01
    )


@pytest.mark.slow("takes more than a second")
def test_the_command_line_does_all_of_it(example, monkeypatch):
    monkeypatch.chdir(example)
    run = CliRunner().invoke
    validated = run(cli.app, ["validate", "named_view.yaml"])
    assert validated.exit_code == 0
    assert "3 columns, sequential" in validated.stdout
    assert "2024-01-01: 5 people, no faults" in validated.stdout
    made = run(cli.app, ["release", "named_view.yaml", "--through", "2024-01-01"])
    assert made.exit_code == 0
    for said in (validated.stdout, made.stdout):
        assert "job joins the view with t2.csv, and is not in x: nothing is" in " ".join(said.split())
    verified = run(cli.app, ["verify", "var/published/named_view/v1"])
    assert (verified.exit_code, verified.stdout.splitlines()[0]) == (
        0,
        "2024-01-01  4 files as in the manifest",
    )


def test_what_is_published_is_found_again_and_not_made_again(example):
    series = make(series_of(example), RELEASES[0])
    before = published(example / "var")
    make(series_of(example), RELEASES[0])
    assert published(example / "var") == before
    make(declare(example, k={"HIV": 0.9}), RELEASES[0])  # it keeps its own
    assert published(example / "var") == before
    assert series.is_published(RELEASES[0])


def test_a_tampered_view_is_found(example):
    series = make(series_of(example), RELEASES[0])
    file = series.published(RELEASES[0]) / "view.parquet"
    view = pl.read_parquet(file)
    view.with_columns(name=pl.Series(["Alice", "Alice", "Bob", "Bob", "Cathy"])).write_parquet(file)
    with pytest.raises(PublishedFolderError, match="was changed after publication"):
        audited(example)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(
    ("names", "broken"),
    [
        (["Alice", "Alice", "Bob", "Bob", "Cathy"], {fi.JOIN}),
        (["Alice", "B-C", "B-C", "B-C", "B-C"], {fi.COVERAGE, fi.COUNTS}),
        (["B-C", "Alice", "Alice", "B-C", "B-C"], {fi.COVERAGE, fi.COUNTS}),
    ],
)
def test_a_view_that_was_tampered_with_manifest_and_all_is_convicted(example, names, broken):
    series = make(series_of(example), RELEASES[0])
    own = example / "own" / RELEASES[0]
    own.mkdir(parents=True)
    view = pl.read_parquet(series.published(RELEASES[0]) / "view.parquet")
    view.with_columns(name=pl.Series(names)).sort(pl.all()).write_parquet(own / "view.parquet")
    code, promises = audited(example, example / "own")
    assert code == 3
    found = {name for name, row in promises.items() if not row["holds"]}
    assert broken & found
    if broken == {fi.JOIN}:
        assert found == broken
        assert (promises[fi.JOIN]["broken"], promises[fi.JOIN]["found"]) == (1, 1.0)


def test_a_join_that_is_too_large_is_undecided_and_not_broken(example, monkeypatch):
    make(series_of(example), RELEASES[0])
    monkeypatch.setattr(
        "republish.anonymize.attack.join.join_attack.__kwdefaults__", {**_defaults(), "most_rows": 3}
    )
    code, promises = audited(example)
    assert code == 0
    assert promises[fi.JOIN]["undecided"] > 0
    assert promises[fi.JOIN]["holds"]


def _defaults():
    from republish.anonymize.attack.join import join_attack

    return join_attack.__kwdefaults__


def test_a_previous_release_that_cannot_be_joined_is_refused_and_nothing_is_published(example):
    """Each reason is in tests/anonymize/sequential/test_bad_input.py."""
    (example / "t2.csv").write_text("job,disease\nBanker,HIV\n")
    with pytest.raises(SnapshotError, match=r"t2\.csv is not population-related: 0 of its 1 records match"):
        make(series_of(example), RELEASES[0])
    (example / "t2.csv").unlink()
    with pytest.raises(SnapshotError, match=r"t2\.csv: there is no such file or folder"):
        make(series_of(example), RELEASES[0])
    assert not published(example / "var")


def test_no_solution_is_said_before_anything_is_published(example):
    with pytest.raises(NotEligible, match=r"implies one of disease .*: raise k"):
        make(declare(example, k={"HIV": 0.1}), RELEASES[0])
    assert not published(example / "var")


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        (
            {"_quasi_identifiers": []},
            "quasi_identifiers",
            "is unknown; accepted: identifier, columns, product",
        ),
        ({"_columns": []}, "columns", "must be a list of at least one column"),
        (
            {"_columns": [{"name": "name", "kind": "date"}]},
            "columns[name].kind",
            "date is unknown; accepted: number, category",
        ),
        (
            {"_columns": [{"name": "name", "kind": "category", "order": ["a"], "width": 3}]},
            "columns[name].width",
            "is unknown; accepted: .*keep",
        ),
    ],
)
def test_faults_of_a_view_name_the_key_and_what_is_accepted(example, changes, key, words):
    with pytest.raises(ContractError) as refused:
        declare(example, **changes)
    assert any(where == key and re.search(words, fault) for where, fault in refused.value.faults)


def test_a_snapshot_that_is_not_what_the_contract_says_is_refused(example):
    (example / "t1/2024-01-01.csv").write_text("pid,name,job,class\n1,Zoe,,c1\n1,Bob,Clerk,c1\n")
    with pytest.raises(SnapshotError) as refused:
        make(series_of(example), RELEASES[0])
    for words in (
        "name: 1 of 2 rows are not in the hierarchy (3 labels",
        "job: 1 of 2 rows have no value",
        "pid: 1 of 2 rows repeat the identifier",
    ):
        assert words in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"k": {"AIDS": 0.7}}, "principle.k"),
        ({"inconsistent": {"name:disease": [["Alice", "AIDS"]]}}, "principle.inconsistent[name:disease]"),
    ],
)
def test_a_value_that_no_earlier_release_has_would_promise_nothing_and_is_refused(example, changes, key):
    words = "AIDS is no value of disease in an earlier release: accepted are Cancer, HIV"
    with pytest.raises(ContractError) as refused:
        make(declare(example, **changes), RELEASES[0])
    assert refused.value.faults == [(key, words)]
    assert not published(example / "var")
    said = []
    assert examine(series_of(example), said.append) == refused.value.exit_code == 2
    assert any(words in line for line in said)


def test_an_audit_by_a_contract_with_a_value_that_no_earlier_release_has_is_refused(example):
    make(series_of(example), RELEASES[0])
    declare(example, k={"AIDS": 0.7})
    with pytest.raises(ContractError, match="AIDS is no value of disease"):
        audited(example)


def test_a_previous_release_stays_as_it_was(example):
    make(series_of(example), RELEASES[0])
    (example / "t2.csv").write_text((example / "t2.csv").read_text().replace("Driver,Cancer", "Driver,HIV"))
    with pytest.raises(SnapshotError, match="not the table that the release before was joined with"):
        make(series_of(example), RELEASES[1])
    said = []
    assert examine(series_of(example), said.append) == 2
    assert any(
        "2025-01-01: would be refused: previous release t2.csv is not the table" in line for line in said
    )


@pytest.mark.slow("takes more than a second")
def test_a_published_view_is_a_previous_release_and_what_the_asset_depends_on(example):
    first = make(series_of(example), RELEASES[0])
    path = str(first.published(RELEASES[0]))
    second = declare(
        example,
        _product="second_view",
        previous=[
            {"path": path, "columns": ["name", "job", "class"]},
            {"path": "t2.csv", "columns": ["job", "disease"]},
        ],
    )
    made = make_by_dagster(second, RELEASES[0])
    assert made[0].counts.people == 5
    assert second.committed(RELEASES[0]).figures["earlier_releases"] == 2
    together = dg.Definitions.merge(product_definitions(first), product_definitions(second))
    graph = together.resolve_asset_graph()
    upstream = graph.get(dg.AssetKey(["second_view", "views"])).parent_keys
    assert dg.AssetKey(["named_view", "publication"]) in upstream
    assert dg.AssetKey(["named_view", "counterfeits"]) not in graph.get_all_asset_keys()


def test_x_of_an_earlier_view_is_part_of_the_next_one(example):
    """Else a join of the two shows what somebody has whose values on both are known."""
    first = make(series_of(example), RELEASES[0])
    previous = [
        {"path": str(first.published(RELEASES[0])), "columns": ["name", "job", "class"]},
        {"path": "t2.csv", "columns": ["job", "disease"]},
    ]
    declared = yaml.safe_load((example / "named_view.yaml").read_text())
    job_alone = [
        {**column, "keep": column["name"] == "class"}
        for column in declared["columns"]
        if column["name"] != "name"
    ]
    changes = {"_product": "second_view", "_columns": job_alone, "previous": previous, "k": 1.0}
    with pytest.raises(ContractError, match=r"principle.x: lacks name, which x of the earlier view .* has"):
        make(declare(example, **changes, x=["job"]), RELEASES[0])
    make(declare(example, **changes, x=["job", "name"]), RELEASES[0])


def test_readers_are_told_against_whom_nothing_is_promised(example):
    said = (make(series_of(example), RELEASES[0]).published(RELEASES[0]) / "README.md").read_text()
    assert "Nothing is promised against readers who also know a person's job." in " ".join(said.split())


def test_a_previous_release_in_parts_is_the_table_that_it_was(example):
    first = make(series_of(example), RELEASES[0])
    named = {"path": str(first.published(RELEASES[0])), "columns": ["name", "job", "class"]}
    others = [{"path": "t2.csv", "columns": ["job", "disease"]}]
    file = declare(example, _product="second_view", previous=[named, *others]).file
    whole = read_previous(file)
    divide(first.published_folder, rows=2)
    assert len(table_files(first.published(RELEASES[0]), "view")) == 3
    parts = read_previous(file)
    assert [table.equals(parts[name]) for name, table in whole.items()] == [True, True]


def test_views_that_name_releases_of_each_other_are_shown_without_this_lineage(example, monkeypatch, caplog):
    first = series_of(example)
    names = ["name", "job", "class"]
    for product, other in (("named_view", "second_view"), ("second_view", "named_view")):
        there = str(first.home.published(other, "v1") / RELEASES[0])
        others = [{"path": there, "columns": names}, {"path": "t2.csv", "columns": ["job", "disease"]}]
        declared = declare(example, _product=product, previous=others)
        file = (example / "named_view.yaml").rename(example / f"{product}_of_other.yaml")
        register(first.home, load_contract(file))
        shutil.copy(file, example / "named_view.yaml")
    assert declared.contract.product == "second_view"
    monkeypatch.setenv("REPUBLISH_HOME", str(first.home.path))
    graph = definitions.defs().resolve_asset_graph()
    for product, other in (("named_view", "second_view"), ("second_view", "named_view")):
        parents = graph.get(dg.AssetKey([product, "views"])).parent_keys
        assert dg.AssetKey([other, "publication"]) not in parents
    assert "named_view, second_view name releases of each other" in caplog.text


@pytest.mark.slow("takes more than a second")
def test_a_view_names_all_releases_of_the_same_people_in_its_home(example):
    """Else it is refused: anybody may join them. One contract says it for both that nobody gets both."""
    first = make(series_of(example), RELEASES[0])
    others = [{"path": "t2.csv", "columns": ["job", "disease"]}]
    with pytest.raises(ContractError) as refusal:
        make(declare(example, _product="second_view", previous=others), RELEASES[0])
    ((_, message),) = refusal.value.faults
    assert message == (
        "5 people of second_view/v1 are in releases of named_view, another product of this home, too: anybody"
        " with both can join them. To go on, write same_people: {named_view: separate_readers} (nobody gets"
        " releases of both); or write same_people: {named_view: other_people} (the identifiers there are"
        " other people's); or list all releases of named_view under principle.previous"
    )
    named = {"path": str(first.published(RELEASES[0])), "columns": ["name", "job", "class"]}
    make(declare(example, _product="second_view", previous=[named, *others]), RELEASES[0])
    # The first one goes on, and nothing was joined with what it publishes next.
    with pytest.raises(ContractError, match="5 people of named_view/v1 are in releases of second_view"):
        make(declare(example, _product="named_view", previous=others), RELEASES[1])
    apart = {"second_view": "separate_readers"}
    make(declare(example, _product="named_view", _same_people=apart, previous=others), RELEASES[1])


@pytest.mark.parametrize("first", ["view", "table"])
def test_a_view_and_a_table_with_a_column_in_common_are_not_each_by_itself_in_either_order(example, first):
    wards = pl.read_csv(example / "t1/2024-01-01.csv").with_columns(ward=pl.Series(["n", "s", "n", "s", "e"]))
    wards.write_csv(example / "t1/2024-01-01.csv")
    jobs = ["Banker", "Clerk", "Driver", "Engineer"]
    table = yaml.safe_load((example / "named_view.yaml").read_text()) | {
        "product": "clinic",
        "quasi_identifiers": [{"name": "job", "kind": "category", "order": jobs}],
        "sensitive": {"name": "ward"},
        "principle": {"name": "m_invariance", "m": 2},
        "same_people": {"named_view": "each_by_itself"},
    }
    table["releases"] = {"first": RELEASES[0]}
    del table["columns"]
    (example / "clinic.yaml").write_text(yaml.safe_dump(table))
    view = declare(example, _same_people={"clinic": "each_by_itself"})
    both = {"view": view, "table": Series(load_contract(example / "clinic.yaml"), view.home)}
    make(both.pop(first), RELEASES[0])
    ((other, series),) = both.items()
    with pytest.raises(ContractError) as refusal:
        make(series, RELEASES[0])
    ((key, message),) = refusal.value.faults
    assert key == "same_people"
    assert "anybody with both can join them. each_by_itself is not accepted here. To go on, write" in message
    assert ("under principle.previous" in message) == (other == "view")
    assert not series.is_published(RELEASES[0])


@pytest.mark.parametrize("listed", [["name"], ["name", "card"]])
def test_a_column_that_two_previous_releases_share_is_refused_listed_or_not(example, listed):
    """By their cards, everybody's name and disease are joined, and the view by neither."""
    t2 = (example / "t2.csv").read_text().splitlines()
    (example / "t2.csv").write_text("\n".join(f"{line},{n or 'card'}" for n, line in enumerate(t2)) + "\n")
    t3 = example / "t3.csv"
    t3.write_text("name,card\nAlice,1\nAlice,2\nBob,3\nBob,4\nCathy,5\n")
    previous = [{"path": "t2.csv", "columns": ["job", "disease"]}, {"path": "t3.csv", "columns": listed}]
    series = declare(example, previous=previous)
    with pytest.raises(SnapshotError, match="previous: card: is in more than one of the previous releases"):
        make(series, RELEASES[0])
    assert not published(example / "var")
    t3.write_text(t3.read_text().replace("card", "number"))
    if listed == ["name"]:
        make(series, RELEASES[0])


OTHER_COLUMNS = {
    "one came": lambda columns: columns.insert(
        0, {"name": "pid2", "kind": "number", "domain": [1, 5], "keep": True}
    ),
    "another kind": lambda columns: columns.insert(
        0, {"name": columns.pop(0)["name"], "kind": "number", "domain": [0, 9]}
    ),
}


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("case", OTHER_COLUMNS)
def test_a_view_with_other_columns_is_another_series(example, case):
    """Views of a series are joined column by column, whatever these are called."""
    make(declare(example, information="discernibility"), RELEASES[0])
    columns = yaml.safe_load((example / "named_view.yaml").read_text())["columns"]
    OTHER_COLUMNS[case](columns)
    changed = declare(example, _columns=columns, _accept={RELEASES[1]: ["columns"]})
    table = pl.read_csv(example / f"t1/{RELEASES[1]}.csv").with_columns(pid2="pid")
    table = table.with_columns(name=pl.lit(1)) if case == "another kind" else table
    table.write_csv(example / f"t1/{RELEASES[1]}.csv")
    with pytest.raises(ContractError, match="columns: other names, kinds or another order: begin a new s"):
        make(changed, RELEASES[1])
    with pytest.raises(PublishedFolderError, match=r"class \(category\), and the contract decl"):
        audited(example)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("order", [["c2", "c1"], ["c1", "c2", "c3"]])
def test_a_view_whose_columns_have_other_labels_goes_on_and_is_audited(example, order):
    make(series_of(example), RELEASES[0])
    columns = yaml.safe_load((example / "named_view.yaml").read_text())["columns"]
    columns[2]["order"] = order
    make(declare(example, _columns=columns, _accept={RELEASES[1]: ["columns"]}), RELEASES[1])
    code, promises = audited(example)
    assert code == 0
    assert all(row["holds"] for row in promises.values())


def test_a_changed_published_view_is_no_previous_release(example):
    first = make(series_of(example), RELEASES[0])
    folder = first.published(RELEASES[0])
    second = declare(
        example,
        _product="second_view",
        previous=[{"path": str(folder), "columns": ["name", "job", "class"]}],
        y=["class"],
        x=["name"],
        k=1,
    )
    (folder / "cuts.json").write_text("{}")
    with pytest.raises(SnapshotError, match="was changed after publication"):
        make(second, RELEASES[0])


def test_a_previous_release_in_another_dialect_is_the_same_table(example):
    def read(**written):
        named = {"path": "t2.csv", "columns": ["job", "disease"], **written}
        return read_previous(declare(example, previous=[named]).file)["previous_0"]

    plain, rows = read(), pl.read_csv(example / "t2.csv").rename({"job": "Beruf"})
    (example / "t2.csv").write_bytes(rows.write_csv(separator=";").encode("utf-16"))
    written = {"separator": ";", "encoding": "utf-16"}
    assert read(**written, names={"job": "Beruf"}).equals(plain)
    with pytest.raises(SnapshotError, match="names: has no column Job"):
        read(**written, names={"job": "Job"})
