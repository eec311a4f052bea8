"""Estimates from a published folder: exact where groups are, and off by as much as they say."""

import datetime as dt
import json
import shutil

import duckdb
import numpy as np
import polars as pl
import pytest

import republish
from republish.anonymize.errors import LimitError, PublishedFolderError, QueryError
from republish.orchestration.readers.estimate.command import Source, answer, estimate
from republish.orchestration.readers.estimate.copies import write_copies
from republish.orchestration.readers.estimate.folders import Described, described
from republish.orchestration.series.recorded import verify
from republish.orchestration.storage.manifest import verify_release
from tests.hospital import RELEASES
from tests.orchestration.audit.published_folders import seal

KEY = "a key that is the same in each run"
CONTRACT = {
    "identifier": "person",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [18, 90]},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
    ],
    "sensitive": {"name": "disease"},
    "principle": {"name": "m_invariance", "m": 3},
}


@pytest.fixture
def folder(series):
    return series.published(RELEASES[1])


def published(people, folder, **changes):
    """The folder of a first release."""
    contract, state = republish.Contract.of(CONTRACT | changes), republish.State.begin(KEY)
    return republish.release(people, contract, state, date="2024-01-01").write(folder / "v1")


def staff(people=600, seed=1):
    """People whose diseases go with their ages."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 91, people)
    names = np.array(["flu", "asthma", "gout", "mumps", "acne", "stroke"])
    return pl.DataFrame(
        {
            "person": np.arange(people),
            "age": age,
            "sex": random.choice(["F", "M"], people),
            "disease": names[(random.integers(0, 6, people) * (1 + (age > 55))) % 6],
        }
    )


def copied(folder, *tables, labels=None, number=2, **named):
    """A folder of copies that are written down here: `number` of each release."""
    releases = [str(one["release"].first()) for one in tables[::number]]
    names = tables[0].columns[2:]
    said = [Described(one, names, labels or {}, {}, 0, of_rows=False) for one in releases]
    write_copies(folder, iter(tables), number, said, **named)
    return folder


def copy(release=1, **columns):
    """One copy."""
    people = len(next(iter(columns.values())))
    head = {"copy": [1] * people, "release": [dt.date(2024, release, 1)] * people}
    return pl.DataFrame({**head, **columns})


@pytest.mark.slow("takes more than a second")
def test_a_folder_of_an_older_version_is_verified_audited_and_estimated_from(tmp_path):
    """It has statements for DuckDB beside its tables, which nobody runs."""
    people = staff()
    folder = published(people, tmp_path / "now")
    older = shutil.copytree(folder, tmp_path / "before" / folder.name)
    (older / "estimate.sql").write_text("SELECT nothing that runs;\n")
    manifest = json.loads((older / "manifest.json").read_text())
    manifest["files"]["estimate.sql"] = {"sha256": ""}
    truth, contract = {"2024-01-01": people}, republish.Contract.of(CONTRACT)
    for version, holds in (("0.28.0", True), (manifest["software_version"], False)):
        (older / "manifest.json").write_text(json.dumps(manifest | {"software_version": version}))
        seal(older)
        assert "estimate.sql" in verify_release(older)["files"]
        # In a release of today's version the file could say anything, and an audit finds it.
        assert republish.audit(older, truth, contract).keeps_contract == holds
        assert estimate(older, by="disease").equals(estimate(folder, by="disease"))


# ---- of folders of copies


def test_a_folder_of_copies_is_asked_and_nothing_is_drawn(tmp_path):
    place = copied(
        tmp_path / "new", copy(age=[1, 2, 3], sex=["F", "F", "M"]), copy(age=[1, 3, 3], sex=["F"] * 3)
    )
    assert estimate(place).select("people", "standard_error", "low", "high", "share").row(0) == (
        3,
        0,
        3,
        3,
        1,
    )
    (row,) = estimate(place, "sex = 'F'").rows(named=True)
    mean, error = republish.pooled([2, 3])
    assert (row["people"], row["standard_error"], row["low"]) == (mean, round(error, 1), 0)
    (row,) = estimate(place, of="avg(age)").rows(named=True)
    mean, error = republish.pooled([2, 7 / 3])
    assert (row["estimate"], row["standard_error"]) == (round(mean, 3), round(error, 3))
    assert row["high"] == pytest.approx(mean + 12.7062 * error, abs=0.001)
    assert estimate(place, by="release")["release_1"].to_list() == [dt.date(2024, 1, 1)]


def test_releases_come_one_after_the_other_and_changes_between_them(tmp_path):
    tables = [copy(month, sex=["F"] * (month + more) + ["M"]) for month in (1, 2, 4) for more in (0, 1)]
    place = copied(tmp_path / "new", *tables)
    found = estimate(place, "sex = 'F'")
    assert found["people"].to_list() == [1.5, 2.5, 4.5]
    assert [str(one) for one in found["release"]] == ["2024-01-01", "2024-02-01", "2024-04-01"]
    assert estimate(place, "sex = 'F'", last=True).equals(found.tail(1))
    changes = estimate(place, "sex = 'F'", change=True)
    assert changes["change"].to_list() == [1, 2]
    assert changes["standard_error"].to_list() == [0, 0]
    assert estimate(place, "sex = 'F'", change=True, last=True).equals(changes.tail(1))
    by_sex = estimate(place, by="sex", of="count(*) * 2", change=True)
    assert by_sex.columns[:5] == ["release", "sex", "before", "estimate", "change"]
    assert by_sex["change"].to_list() == [2, 0, 4, 0]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_files_of_both_kinds_say_the_same(tmp_path, form):
    """Text of digits is text also in CSV, where a spreadsheet would run it as a formula, too."""
    labels = {"code": ["-1", "=x", "007", "7"], "day": ["2024-01-01"]}
    columns = {"code": ["-1", "=x", "007", "7"], "day": ["2024-01-01"] * 4, "age": [1, None, 3, 4]}
    place = copied(tmp_path / "new", copy(**columns), copy(**columns), labels=labels, form=form)
    for where in ("code = '-1'", "code = '=x'", "code = '007'", "day LIKE '2024%' AND age = 1"):
        assert estimate(place, where)["people"].to_list() == [1]
    assert estimate(place, "age IS NULL")["people"].to_list() == [1]
    assert estimate(place, by="code")["code"].to_list() == ["-1", "007", "7", "=x"]


def test_copies_without_the_file_beside_them_are_asked_all_the_same(tmp_path):
    place = copied(tmp_path / "new", copy(age=[1, 2], sex=["F", "M"]), copy(age=[1, 2], sex=["F", "F"]))
    for beside in ("[]", '{"releases": [{"release": 3}]}', None):
        (place / "copies.json").unlink() if beside is None else (place / "copies.json").write_text(beside)
        assert estimate(place, "sex = 'M'")["people"].to_list() == [0.5]
        with pytest.raises(QueryError, match=r"sex has no value W\. It has F, M"):
            estimate(place, "sex = 'W'")


def test_a_label_that_is_declared_may_be_in_no_copy(tmp_path):
    place = copied(tmp_path / "new", *[copy(sex=["F"])] * 2, labels={"sex": ["F", "M"]})
    assert estimate(place, "sex = 'M'").is_empty()
    assert estimate(place, "sex = 'F' OR sex = 'M'")["people"].to_list() == [1]
    with pytest.raises(QueryError, match="sex has no value W"):
        estimate(place, "sex = 'W'")


def test_a_label_of_one_release_may_be_asked_of_all(tmp_path):
    place = copied(tmp_path / "new", *[copy(1, sex=["F"])] * 2, *[copy(2, sex=["F", "X"])] * 2)
    assert estimate(place, "sex = 'X'")["people"].to_list() == [1]


def test_a_folder_that_is_none_of_copies_is_refused(tmp_path):
    place = copied(tmp_path / "new", *[copy(sex=["F"])] * 4, *[copy(2, sex=["F"])] * 4, number=4)
    (place / "2024-02-01_copy_2.parquet").write_bytes(b"no table")
    with pytest.raises(PublishedFolderError, match=r"2024-02-01_copy_2.parquet: is no file that republish"):
        estimate(place)
    (place / "2024-02-01_copy_2.parquet").unlink()
    with pytest.raises(PublishedFolderError, match="as many copies of each release, and two at least"):
        estimate(place)
    with pytest.raises(PublishedFolderError, match="is neither a release nor a series"):
        estimate(tmp_path)


def test_a_series_in_whose_releases_a_column_changed_is_refused_where_it_is_asked_for(tmp_path):
    place = copied(tmp_path / "new", *[copy(1, a=["F"], b=[1])] * 2, *[copy(2, a=["F"], c=[2])] * 2)
    assert estimate(place, "a = 'F'")["people"].to_list() == [1, 1]
    with pytest.raises(QueryError, match="--where b = 1: "):
        estimate(place, "b = 1")


@pytest.mark.parametrize(
    "name",
    [
        "people",
        "copy_1",
        "*",
        "^a.*$",
        'a"b',
        "a'b",
        "a;b",
        "a.b",
        "-- a",
        "'; DROP TABLE a",
        "a\nb",
        "é",
        "select",
    ],
)
def test_columns_may_have_any_name_and_labels_any_text(tmp_path, name):
    place = copied(tmp_path / "new", *[copy(**{name: [name, "x"]})] * 2, labels={name: [name, "x"]})
    column, label = name.replace('"', '""'), name.replace("'", "''")
    assert estimate(place, f"\"{column}\" = '{label}'")["people"].to_list() == [1]
    by = estimate(place, by=f'"{column}"')
    heading = "people_1" if name == "people" else name
    assert sorted(by[heading].to_list()) == sorted([name, "x"])


@pytest.mark.parametrize(
    ("where", "people", "is_told"),
    [
        ("cost IS NULL", 1, False),
        ("NOT cost > 50", 1, False),
        ("cost = '(missing)'", 1, False),
        ("cost NOT LIKE '9%'", 2, True),
        ("sex <> 'F'", 2, True),
        ("sex <> 'F' AND sex <> '(missing)'", 1, False),
    ],
)
def test_a_missing_value_is_null_among_numbers_and_else_a_label_that_is_told_of(
    tmp_path, where, people, is_told
):
    columns = {"cost": ["7", "90", "(missing)"], "sex": ["F", "M", "(missing)"]}
    place = copied(tmp_path / "new", *[copy(**columns)] * 2, labels=columns)
    found = answer(Source.of(place, 2, 1), where, (), "count(*)")
    assert found.table["people"].to_list() == [people]
    assert [one[:5] for one in found.remarks] == ["Where"] * is_told


def test_what_fits_nowhere_is_refused_with_where_there_was_no_room(tmp_path, monkeypatch):
    connect = duckdb.connect

    def little(config=None):
        limits = {"memory_limit": "4MB", "max_temp_directory_size": "1MB"}
        return connect(config=config | limits) if config else connect()

    place = copied(tmp_path / "new", *[copy(age=list(range(200_000)))] * 2)
    monkeypatch.setattr(duckdb, "connect", little)
    with pytest.raises(LimitError, match=r"new: is too large to be estimated from here: .* TMPDIR"):
        estimate(place, of="count(DISTINCT age)")


# ---- of published folders


def test_everybody_is_counted_without_an_error_and_counterfeits_are_nobody(series, folder):
    stated = verify(series, RELEASES[1])
    (row,) = estimate(folder, copies=2).rows(named=True)
    assert row["people"] == row["low"] == row["high"] == stated["tuples"] - stated["counterfeits"]
    assert (row["standard_error"], row["share"], str(row["release"])) == (0, 1, RELEASES[1])


def test_a_folder_and_the_copies_of_it_that_were_written_say_the_same(folder, tmp_path):
    drawn = republish.copies(folder, 3)
    write_copies(tmp_path / "new", drawn, 3, described(folder))
    asked = {"where": "disease <> 'flu' AND age >= 40", "by": "Sex"}
    found = estimate(folder, **asked, copies=3)
    assert found.equals(estimate(tmp_path / "new", **asked))
    assert found.columns[:3] == ["release", "sex", "people"]
    assert found.equals(estimate(folder, **asked, copies=3, seed=1))
    assert not found.equals(estimate(folder, **asked, copies=3, seed=2))


def test_releases_of_a_series_say_what_each_says(series):
    whole, asked = series.published_folder, {"where": "disease <> 'flu'", "by": "sex", "copies": 2}
    each = [estimate(one, **asked) for one in sorted(whole.iterdir())]
    assert estimate(whole, **asked).equals(pl.concat(each))
    assert estimate(whole, **asked, last=True).equals(each[-1])


def test_a_change_needs_two_releases(folder):
    with pytest.raises(QueryError, match="a change needs two releases, and there is one; give the series"):
        estimate(folder, change=True)


def test_a_column_or_label_that_there_is_not_is_refused_before_anything_is_drawn(folder, monkeypatch):
    monkeypatch.setattr("republish.orchestration.readers.estimate.copies.drawn_copies", None)
    with pytest.raises(QueryError, match="there is no column ages; there are release, age, zipcode, sex"):
        estimate(folder, by="ages")
    with pytest.raises(QueryError, match=r"disease has no value flue\. Did you mean flu"):
        estimate(folder, "disease = 'flue'")


def test_values_that_are_not_declared_are_those_of_the_tables(tmp_path):
    place = published(staff(60), tmp_path)
    (said,) = described(place)
    assert said.labels["disease"] == ["acne", "asthma", "flu", "gout", "mumps", "stroke"]
    with pytest.raises(QueryError, match=r"disease has no value flue\. Did you mean flu"):
        estimate(place, "disease = 'flue'")


def test_what_a_folder_says_of_its_columns(tmp_path):
    age, sex = CONTRACT["quasi_identifiers"]
    asked = [{**age, "min_width": 10}, {**sex, "missing": "publish"}]
    (said,) = described(published(staff(60), tmp_path, quasi_identifiers=asked))
    assert said.columns == ["age", "sex", "disease"]
    assert said.cells == {"age": "10 from 18 on"}
    assert said.labels["sex"] == ["(missing)", "F", "M"]
    assert (said.release, said.held_back, said.of_rows) == ("2024-01-01", 0, False)


def test_a_folder_without_a_package_is_too_old(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in ("datapackage.json", "README.md", "SHA256SUMS"):
        (folder / name).unlink()
        manifest["files"].pop(name, None)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(PublishedFolderError, match="published by an older version"):
        estimate(folder)


def test_a_folder_that_was_tampered_with_is_not_asked(folder):
    (folder / "README.md").write_text("another")
    with pytest.raises(PublishedFolderError, match=r"README\.md: was changed"):
        estimate(folder)


def test_a_package_of_another_shape_is_refused(folder):
    package = json.loads((folder / "datapackage.json").read_text())
    for key, entry in (("attributes", [3]), ("attributes", None), ("sensitive", 3)):
        own = {**package["republish"], key: entry}
        (folder / "datapackage.json").write_text(json.dumps({**package, "republish": own}))
        seal(folder)
        with pytest.raises(PublishedFolderError, match="is not a package of republish's"):
            described(folder)


def exact(people, folder):
    return published(people, folder, principle=CONTRACT["principle"] | {"format": "anatomy"})


def test_exact_quasi_identifiers_are_counted_exactly(tmp_path):
    people = staff(120)
    place = exact(people, tmp_path)
    young = people.filter(pl.col("age") < 40, sex="F")
    (row,) = estimate(place, "age < 40 and sex = 'F'", copies=3).rows(named=True)
    assert (row["people"], row["standard_error"]) == (young.height, 0)
    (row,) = estimate(place, of="avg(age)", copies=3).rows(named=True)
    assert (row["estimate"], row["standard_error"]) == (pytest.approx(people["age"].mean()), 0)
    by_disease = estimate(place, by="disease", copies=3)
    true = people.group_by("disease").len().sort("disease")
    assert by_disease["people"].to_list() == true["len"].to_list()
    assert by_disease["standard_error"].to_list() == [0] * 6
    (row,) = estimate(place, "disease = 'flu' and age < 40").rows(named=True)
    assert row["low"] <= people.filter(pl.col("age") < 40, disease="flu").height <= row["high"]
    assert row["standard_error"] > 0


@pytest.mark.slow("draws copies of three tables")
@pytest.mark.parametrize("made", [exact, published], ids=["exact", "intervals"])
def test_intervals_have_the_truth_in_them_as_often_as_they_say(made, tmp_path):
    """Counts, means, medians and shares of people of both sexes with each disease, and under conditions."""
    right = []
    for seed in range(3):
        people = staff(1500, seed)
        number = 0
        write_copies(
            place := tmp_path / f"copies{seed}",
            republish.copies(folder := made(people, tmp_path / f"{seed}")),
            25,
            described(folder),
        )
        for upto in (30, 45, 60, 75):
            under = people.filter(pl.col("age") < upto)
            for of, true in (
                ("count(*)", pl.len()),
                ("avg(age)", pl.col("age").mean()),
                ("median(age)", pl.col("age").median()),
                ("avg((sex = 'F')::int)", (pl.col("sex") == "F").mean()),
            ):
                found = estimate(place, f"age < {upto}", "disease", of)
                both = found.join(under.group_by("disease").agg(true=true), on="disease")
                is_right = pl.col("true").is_between(pl.col("low") - 1e-9, pl.col("high") + 1e-9)
                right += both.select(is_right)["true"].to_list()
                number += both.height
        assert number == 96
    assert np.mean(right) > 0.85


@pytest.mark.slow("draws copies of two releases")
def test_the_error_of_a_change_is_smaller_than_that_of_two_strangers(series):
    asked = {"where": "age < 50", "by": "disease"}
    changes = estimate(series.published_folder, **asked, change=True)
    counts = estimate(series.published_folder, **asked)
    strangers = counts.group_by("disease").agg((pl.col("standard_error") ** 2).sum().sqrt())
    assert changes["standard_error"].sum() < strangers["standard_error"].sum()
