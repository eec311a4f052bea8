"""`republish impute`, as a researcher types it: what is certain is in every table, the rest is dealt out."""

import polars as pl
import pytest

from tests.hospital import RELEASES

RELEASE = RELEASES[1]


@pytest.fixture
def folder(series):
    return series.published(RELEASE)


@pytest.mark.slow("takes more than a second")
def test_each_table_has_the_people_of_every_group_with_values_of_their_group(folder, tmp_path, republish):
    code, (said,), err = republish("impute", folder, tmp_path / "a.parquet", "--copies", 3)
    assert (code, err) == (0, [])
    assert said.endswith("a.parquet: 3 tables of 300 people, told apart by estimate_copy")
    tables = pl.read_parquet(tmp_path / "a.parquet")
    assert tables.columns == ["estimate_copy", "release", "age", "zipcode", "sex", "birthplace", "disease"]
    microdata = pl.read_parquet(folder / "microdata.parquet")
    fakes = pl.read_parquet(folder / "counterfeits.parquet")["count"].sum()
    assert microdata.height == 300 + fakes
    assert fakes > 0
    published = dict(microdata.group_by("disease").len().iter_rows())
    for _, table in tables.group_by("estimate_copy"):
        counted = dict(table.group_by("disease").len().iter_rows())
        lacking = [published[disease] - people for disease, people in counted.items()]
        assert min(lacking) >= 0
        assert sum(lacking) == fakes
        ends = microdata.filter(disease="flu").select("age_low", "age_high", "zipcode_low", "zipcode_high")
        for age, zipcode in table.filter(disease="flu").select("age", "zipcode").iter_rows():
            assert any(a <= age <= b and c <= zipcode <= d for a, b, c, d in ends.iter_rows())
    first, second, _ = (table.drop("estimate_copy") for _, table in tables.group_by("estimate_copy"))
    assert not first.equals(second)


@pytest.mark.slow("makes and audits many releases")
def test_the_same_seed_gives_the_same_tables_as_parquet_and_csv(folder, tmp_path, republish):
    names = {"a.parquet": 1, "b.parquet": 1, "c.csv": 1, "d.parquet": 2}
    for name, seed in names.items():
        assert republish("impute", folder, tmp_path / name, "--copies", 2, "--seed", seed)[0] == 0
    first, again, other = (pl.read_parquet(tmp_path / name) for name in names if name != "c.csv")
    assert first.equals(again)
    assert not first.equals(other)
    assert pl.read_csv(tmp_path / "c.csv", try_parse_dates=True).equals(first)


@pytest.mark.parametrize(
    ("name", "said"), [("tables.xlsx", "ends in .parquet or .csv"), ("there.csv", "is there already")]
)
def test_no_file_is_written_over_and_no_other_kind_is_written(name, said, folder, tmp_path, republish):
    (tmp_path / "there.csv").write_text("mine")
    code, out, (err,) = republish("impute", folder, tmp_path / name)
    assert (code, out) == (2, [])
    assert said in err
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert not (tmp_path / "tables.xlsx").exists()
