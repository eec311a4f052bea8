"""Several sensitive columns: what the chain publishes, what readers get, and what the audit says."""

import json

import polars as pl
import pytest

from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.dagster.metadata import ERROR, of_candidate
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.readers.estimate.copies import copies
from republish.orchestration.rights.find import find
from tests.hospital import RELEASES, audited, make

pytestmark = pytest.mark.slow("makes and audits many releases")

FIRST, SECOND, _ = RELEASES
TREATMENTS = ["diet", "drug", "rest", "surgery", "talk, alone"]
PRINCIPLE = {"name": "m_invariance", "m": 3, "on_value_change": "refuse", "on_ineligible": "wait"}


@pytest.fixture
def several(hospital):
    """A hospital whose patients have a disease, as long as they stay, and a treatment that goes with it."""
    diseases = {}
    for release in (FIRST, SECOND):
        table = hospital.snapshot(release)
        diseases = dict(table.select("patient_id", "disease").iter_rows()) | diseases
        kept = [diseases[patient] for patient in table["patient_id"]]
        number = table["patient_id"].str.slice(-2).cast(pl.Int64)
        treatment = [
            TREATMENTS[(len(disease) + (n if n % 2 else 0)) % 5]
            for disease, n in zip(kept, number, strict=True)
        ]
        changed = table.with_columns(disease=pl.Series(kept), treatment=pl.Series(treatment))
        hospital.deliver(release, changed)
    sensitive = [
        {"name": "disease"},
        {"name": "treatment", "values": TREATMENTS, "description": "what is done"},
    ]
    return hospital.under(PRINCIPLE, sensitive=sensitive)


def test_releases_are_published_audited_and_estimated_by_one_column_and_by_two(several, tmp_path):
    series = make(several.series(tmp_path / "home"), FIRST, SECOND)
    folder = series.published(SECOND)
    rows = pl.read_parquet(folder / "microdata.parquet")
    assert rows.columns[-2:] == ["disease", "treatment"]
    for column in ("disease", "treatment"):
        assert not rows.select(pl.struct("group_id", column).is_duplicated().any()).item()
    code, found = audited(several, series, tmp_path / "report", figures=True)
    assert code == 0
    assert found["candidates by hosting group"]["found"] >= 3
    last = json.loads((tmp_path / "report/audit.json").read_text())["series"][0]["releases"][-1]
    by_column = last["by_column"]
    assert [one["column"] for one in by_column] == ["disease", "treatment", "all columns together"]
    for one in by_column:
        assert one["at_random"] == pytest.approx(1 / 3, abs=0.03)
    assert set(last["useful"]["errors_by_column"]) == {"disease", "treatment"}
    assert audited(several, series, tmp_path / "handout", private=False)[0] == 0

    shown = of_candidate(series, SECOND, series.record(SECOND))["release"]
    errors = {f"{ERROR}: {name}" for name in ("disease", "treatment", "disease, treatment")}
    assert errors == {name for name in shown if name.startswith(ERROR)}

    truth = several.snapshot(SECOND)
    for where, true in (
        ("disease = 'flu'", truth.filter(disease="flu")),
        ("treatment = 'rest'", truth.filter(treatment="rest")),
        ("disease = 'flu' and treatment = 'rest'", truth.filter(disease="flu", treatment="rest")),
    ):
        counted = estimate(folder, where).row(0, named=True)
        assert abs(counted["people"] - true.height) <= 4 * counted["standard_error"] + 5
    by_two = estimate(folder, by=["disease", "treatment"])
    assert abs(by_two["people"].sum() - estimate(folder)["people"][0]) < 1
    assert {"disease", "treatment"} <= set(next(copies(folder, 1)).columns)

    package = json.loads((folder / "datapackage.json").read_text())["republish"]
    assert [one["name"] for one in package["sensitive"]] == ["disease", "treatment"]
    assert package["sensitive"][1]["description"] == "what is done"
    assert "A value is a combination of disease, treatment here." in (folder / "README.md").read_text()

    person = find(series, rows_of(series, SECOND))
    values = person.series[0].published[-1].values
    assert len(values) >= 3
    shown = {f'"{one}"' if "," in one else one for one in TREATMENTS}
    assert all(value.startswith("(") and value[1:-1].split(", ", 1)[1] in shown for value in values)
    assert "\x1f" not in json.dumps(person.as_json(), default=str, ensure_ascii=False)


def rows_of(series, release):
    """Somebody's identifier."""
    return pl.read_parquet(series.private(release) / "linkage.parquet")["patient_id"][0]


def test_what_is_published_is_apart_from_quasi_identifiers_in_anatomy(several, tmp_path):
    declared = {"sensitive": [{"name": "disease"}, {"name": "treatment"}]}
    several.under(PRINCIPLE | {"format": "anatomy"}, **declared)
    series = make(several.series(tmp_path / "home"), FIRST)
    table = pl.read_parquet(series.published(FIRST) / "sensitive.parquet")
    assert table.columns == ["release", "group_id", "disease", "treatment", "count"]
    assert audited(several, series, tmp_path / "report")[0] == 0
    counted = estimate(series.published(FIRST), by="treatment")
    true = several.snapshot(FIRST)["treatment"].value_counts()
    assert dict(counted.select("treatment", pl.col("people").round().cast(pl.Int64)).iter_rows()) == dict(
        true.iter_rows()
    )


def test_the_audit_convicts_a_group_in_which_two_rows_share_a_value_of_one_column(several, tmp_path):
    series = make(several.series(tmp_path / "home"), FIRST)
    file = series.published(FIRST) / "microdata.parquet"
    rows = pl.read_parquet(file)
    at = pl.int_range(pl.len()).over("group_id")
    shared = pl.when(at == 1).then(pl.col("treatment").first().over("group_id")).otherwise("treatment")
    rows.with_columns(shared.alias("treatment")).write_parquet(file)
    for other in (path for path in file.parent.iterdir() if path.suffix != ".parquet"):
        other.unlink()  # nothing but the tables says what was published
    code, found = audited(several, series, tmp_path / "report", private=False)
    assert code == 3
    assert found["values of a group"]["broken"] > 0
    assert found["share of a value"]["broken"] > 0
    assert found["candidates by quasi-identifiers"]["found"] < 3


def test_one_column_that_looks_renamed_is_refused_with_its_name(several, tmp_path):
    series = make(several.series(tmp_path / "home"), FIRST)
    later = several.snapshot(SECOND)
    several.deliver(SECOND, later.with_columns(pl.col("disease").replace({"flu": "influenza"})))
    with pytest.raises(
        SnapshotError, match=r"Nobody has 'disease: flu' any more.*write renamed under its column"
    ):
        make(series, SECOND)
    renamed = [
        {"name": "disease", "renamed": {"flu": "influenza"}},
        {"name": "treatment", "values": TREATMENTS},
    ]
    several.under(PRINCIPLE, sensitive=renamed)
    series = make(several.series(tmp_path / "home"), SECOND)
    assert "flu" in pl.read_parquet(series.published(SECOND) / "microdata.parquet")["disease"].to_list()


def test_a_value_that_a_column_does_not_list_may_be_renamed_in_that_column(several, tmp_path):
    first = several.snapshot(FIRST)
    several.deliver(FIRST, first.with_columns(pl.col("treatment").replace({"rest": "bed"})))
    line = r"write under sensitive, in the column treatment: renamed: \{rest: bed\}; else"
    with pytest.raises(SnapshotError, match=line):
        make(several.series(tmp_path / "home"), FIRST)


def test_shards_have_several_columns_too(several, tmp_path):
    values = sorted({*several.snapshot(FIRST)["disease"], *several.snapshot(SECOND)["disease"]})
    several.under(
        PRINCIPLE,
        shards=2,
        sensitive=[{"name": "disease", "values": values}, {"name": "treatment", "values": TREATMENTS}],
    )
    series = make(several.series(tmp_path / "home"), FIRST, SECOND)
    assert audited(several, series, tmp_path / "report")[0] == 0


def test_another_series_of_some_of_the_columns_does_not_go_on(several, tmp_path):
    home = tmp_path / "home"
    make(several.series(home), FIRST)
    for sensitive in ({"name": "disease"}, [{"name": "treatment"}, {"name": "disease"}]):
        several.under(PRINCIPLE, sensitive=sensitive, series="v2", supersedes="v1")
        with pytest.raises(ContractError) as refusal:
            make(several.series(home), FIRST)
        ((key, message),) = refusal.value.faults
        assert key == "sensitive"
        assert "must be disease, treatment in this order, as in v1" in message
    several.under(PRINCIPLE, sensitive={"name": "disease"}, series="v2", separate_readers=True)
    make(several.series(home), FIRST)
