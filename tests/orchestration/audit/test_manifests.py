"""`republish audit` believes no manifest: chain and claims are held against what is published."""

import io
import json
import re
import shutil

import polars as pl
import pytest
import yaml
from rich.console import Console

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.audit.read.folders import Reading, find_series, read_contract
from republish.orchestration.audit.read.manifests import chain_finding, claims_finding
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.series import read_tables
from tests import findings as fi
from tests.orchestration.audit.published_folders import NAMES, forge, rewrite, run, write_series

pytestmark = pytest.mark.usefixtures("only_verdicts")


@pytest.fixture(scope="session")
def _written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    write_series(folder)
    return folder


@pytest.fixture
def folder(_written, tmp_path):
    return shutil.copytree(_written, tmp_path / "audited")


@pytest.fixture
def series(folder):
    return folder / "published/hospital/v1"


def broken_statements(folder):
    """Which of the two findings about manifests, chain and claims, some release breaks."""
    (series,) = find_series([folder / "published/hospital"], None)
    file, reading = read_contract(folder / "contract.yaml"), Reading()
    material = Material(file, [series], folder / "truth", folder / "private", None, reading)
    found = []
    for turn in material.turns(series):
        tables, people = read_tables(turn, None)
        found.append(chain_finding(turn))
        found.append(claims_finding(turn, tables, len(people), {}))
    rows = pl.concat(row for row in found if row is not None)
    return set(rows.filter(~pl.col("holds"))["promise"])


def forging(**claims):
    return lambda series: forge(series / NAMES[2], **claims)


def with_a_row_more(series):
    files = json.loads((series / NAMES[2] / "manifest.json").read_text())["files"]
    files["microdata.parquet"]["rows"] += 1
    forge(series / NAMES[2], files=files)


FORGED = {
    "a number": (forging(n=7), fi.CHAIN),
    "another hash of the one before": (forging(previous="0" * 64), fi.CHAIN),
    "no hash of the one before": (forging(previous=None), fi.CHAIN),
    "another series": (forging(series="v9"), fi.CHAIN),
    "a release is gone from the middle": (lambda series: shutil.rmtree(series / NAMES[1]), fi.CHAIN),
    "the first release is gone": (lambda series: shutil.rmtree(series / NAMES[0]), fi.CHAIN),
    "a manifest is gone": (lambda series: (series / NAMES[1] / "manifest.json").unlink(), fi.CHAIN),
    "counterfeits": (forging(counterfeits=10**6), fi.CLAIMS),
    "tuples": (forging(tuples=1), fi.CLAIMS),
    "groups": (forging(groups=1), fi.CLAIMS),
    "people held back": (forging(held_back=-1), fi.CLAIMS),
    "rows of a file": (with_a_row_more, fi.CLAIMS),
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_is_forged_in_a_manifest_is_found(folder, series, forged):
    assert broken_statements(folder) == set()
    forge_it, promise = FORGED[forged]
    forge_it(series)
    assert broken_statements(folder) == {promise}


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("forged", ["another hash of the one before", "tuples"])
def test_an_audit_does_not_pass_for_it(folder, series, forged):
    forge_it, promise = FORGED[forged]
    forge_it(series)
    assert run(folder) == (3, {promise})


@pytest.mark.parametrize("forged", ["2", True])
def test_a_place_in_the_chain_that_is_no_number_is_refused(folder, series, forged):
    forge(series / NAMES[2], n=forged)
    with pytest.raises(PublishedFolderError, match="its n is no count"):
        run(folder)


@pytest.mark.slow("takes more than a second")
def test_a_claim_that_many_people_are_held_back_acquits_nobody(folder, series):
    forge(series / NAMES[2], held_back=10**6)
    code, broken = run(folder, linked=False)
    assert code == 3
    assert {fi.CLAIMS, fi.COUNTS} <= broken


@pytest.mark.slow("takes more than a second")
def test_whoever_claims_a_larger_m_is_held_to_it(folder, series):
    stated = json.loads((series / NAMES[2] / "manifest.json").read_text())
    forge(series / NAMES[2], principle=stated["principle"] | {"m": 99})
    code, broken = run(folder)
    assert code == 3
    assert {fi.HOST_CANDIDATES, fi.SIGNATURES} <= broken


@pytest.mark.slow("takes more than a second")
def test_manifests_that_claim_a_smaller_m_than_the_contract_acquit_only_what_keeps_the_contract(
    folder, series
):
    stated = json.loads((series / NAMES[2] / "manifest.json").read_text())
    forge(series / NAMES[2], principle=stated["principle"] | {"m": 2})
    assert run(folder) == (0, set())
    asked = json.loads((folder / "report/audit.json").read_text())["asked"]
    assert {row["required"] for row in asked if row["promise"] == fi.CANDIDATES} == {3}


@pytest.mark.slow("makes and audits many releases")
def test_releases_that_keep_a_smaller_promise_than_the_contract_given_asks_for_do_not_pass(folder):
    stricter = yaml.safe_load((folder / "contract.yaml").read_text())
    stricter["principle"]["m"] = 5
    (folder / "stricter.yaml").write_text(yaml.safe_dump(stricter))
    printed = Console(file=io.StringIO(), width=200)
    assert run(folder, linked=False, contract="stricter.yaml", console=printed) == (3, set())
    said = "The releases keep what they promised; they do not keep what this contract asks for."
    missed = (
        r"The contract asks for more: .*candidates by quasi-identifiers: asked for at least 5, found [34],"
    )
    assert said in printed.file.getvalue()
    assert re.search(missed, printed.file.getvalue())
    report = json.loads((folder / "report/audit.json").read_text())
    assert (report["holds"], report["keeps_contract"], report["verdict"]) == (True, False, said)
    assert fi.CANDIDATES in {row["promise"] for row in report["asked"] if not row["holds"]}
    page = (folder / "report/audit.html").read_text()
    assert "candidates by quasi-identifiers: asked for at least 5, found " in page
    assert 'class="verdict bad"' in page
    assert "What the contract asks for" in page


@pytest.mark.parametrize("forged", [{"principle": {"name": "m_invariance", "m": "x"}}, {"format": ["x"]}])
def test_parameters_and_formats_that_there_are_not_are_refused_in_a_line(folder, series, forged):
    forge(series / NAMES[2], **forged)
    with pytest.raises(PublishedFolderError, match=r"manifest\.json") as raised:
        run(folder)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)


ROW_5 = pl.int_range(pl.len()) == 5


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    "change",
    [
        pl.when(ROW_5).then(None).otherwise("age_low").alias("age_low"),
        pl.when(ROW_5).then(None).otherwise("disease").alias("disease"),
        pl.when(ROW_5).then(None).otherwise("group_id").alias("group_id"),
        pl.when(ROW_5).then(pl.lit("?")).otherwise("sex_high").alias("sex_high"),
        pl.when(ROW_5).then(pl.lit("plague")).otherwise("disease").alias("disease"),
    ],
    ids=str,
)
def test_an_entry_that_is_missing_or_unknown_is_found(folder, series, change):
    rewrite(series / NAMES[2], "microdata", lambda table: table.with_columns(change))
    code, broken = run(folder, linked=False)
    assert code == 3
    assert fi.ENTRIES in broken


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("counterfeits", pl.col("count").cast(pl.String)),
        ("microdata", pl.col("age_low").cast(pl.String)),
        ("microdata", pl.col("sex_low").str.len_chars().alias("sex_low")),
        ("microdata", pl.col("group_id").cast(pl.Float64)),
    ],
    ids=str,
)
def test_a_column_of_another_type_is_refused_in_a_line(folder, series, table, change):
    rewrite(series / NAMES[2], table, lambda rows: rows.with_columns(change))
    with pytest.raises(PublishedFolderError, match=f"{table}.parquet: column .* must be") as raised:
        run(folder)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)


@pytest.mark.slow("takes more than a second")
def test_a_column_of_lists_that_the_format_does_not_have_is_a_finding(folder, series):
    rewrite(series / NAMES[2], "microdata", lambda table: table.with_columns(x=pl.concat_list("group_id")))
    assert fi.UNREAD in run(folder)[1]


@pytest.mark.slow("takes more than a second")
def test_identifiers_that_are_text_in_one_file_and_numbers_in_the_next_are_the_same_people(folder):
    number = pl.col("patient").str.slice(1).cast(pl.Int64)
    for n, file in enumerate(sorted((folder / "truth").iterdir())):
        as_text = number.cast(pl.String) if n % 2 else number
        pl.read_parquet(file).with_columns(as_text.alias("patient")).write_parquet(file)
    for n, file in enumerate(sorted((folder / "private").glob("**/linkage.parquet"))):
        as_text = number if n % 2 else number.cast(pl.String)
        pl.read_parquet(file).with_columns(as_text.alias("patient")).write_parquet(file)
    assert run(folder) == (0, set())
    assert run(folder, linked=False) == (0, set())


@pytest.mark.parametrize("count", [2**62, -(2**62)])
def test_counts_beyond_all_people_are_an_error_of_the_folder(folder, series, count):
    rewrite(
        series / NAMES[0],
        "counterfeits",
        lambda table: table.head(0).vstack(pl.DataFrame([[1], [count]], schema=table.schema)),
    )
    with pytest.raises(PublishedFolderError, match=r"column count has counts beyond 2\^53"):
        run(folder)
