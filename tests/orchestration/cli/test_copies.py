"""`republish copies`, as a researcher types it: what is certain is in every copy, the rest is dealt out."""

import itertools

import numpy as np
import polars as pl
import pytest

import republish
from republish.anonymize.learning import copies as learning
from republish.orchestration.demo.hospital import hospital_snapshots
from republish.orchestration.readers.estimate.copies import BINS
from tests.hospital import RELEASES

RELEASE = RELEASES[1]


@pytest.fixture
def folder(series):
    return series.published(RELEASE)


@pytest.mark.slow("takes more than a second")
def test_each_copy_has_the_people_of_every_group_with_values_of_their_group(folder, tmp_path, republish):
    code, (said,), err = republish("copies", folder, tmp_path / "new", "--copies", 3)
    assert (code, err) == (0, [])
    assert said.endswith(f"new: 3 copies of {RELEASE}, of 300 people")
    files = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert files == [*(f"{RELEASE}_copy_{copy}.parquet" for copy in (1, 2, 3)), "copies.json"]
    tables = [pl.read_parquet(tmp_path / "new" / name) for name in files[:-1]]
    assert tables[0].columns == ["copy", "release", "age", "zipcode", "sex", "birthplace", "disease"]
    assert [table["copy"].unique().to_list() for table in tables] == [[1], [2], [3]]
    microdata = pl.read_parquet(folder / "microdata.parquet")
    fakes = pl.read_parquet(folder / "counterfeits.parquet")["count"].sum()
    assert microdata.height == 300 + fakes
    assert fakes > 0
    published = dict(microdata.group_by("disease").len().iter_rows())
    for table in tables:
        counted = dict(table.group_by("disease").len().iter_rows())
        lacking = [published[disease] - people for disease, people in counted.items()]
        assert min(lacking) >= 0
        assert sum(lacking) == fakes
        ends = microdata.filter(disease="flu").select("age_low", "age_high", "zipcode_low", "zipcode_high")
        for age, zipcode in table.filter(disease="flu").select("age", "zipcode").iter_rows():
            assert any(a <= age <= b and c <= zipcode <= d for a, b, c, d in ends.iter_rows())
    assert not tables[0].drop("copy").equals(tables[1].drop("copy"))


@pytest.mark.slow("makes and audits many releases")
def test_the_same_seed_gives_the_same_copies_as_parquet_and_csv(series, tmp_path, republish):
    """Of a whole series, too, and as a program gets them."""
    names = {"a": (1, "parquet"), "b": (1, "parquet"), "c": (1, "csv"), "d": (2, "parquet")}
    for name, (seed, form) in names.items():
        words = ("copies", series.published_folder, tmp_path / name, "--copies", 2, "--seed", seed)
        assert republish(*words, "--format", form)[0] == 0
    first, again, other = (pl.read_parquet(tmp_path / name / "*.parquet") for name in "abd")
    assert first.equals(again)
    assert not first.equals(other)
    assert first["release"].unique().cast(str).sort().to_list() == [*RELEASES[:2]]
    assert pl.read_csv(tmp_path / "c" / "*.csv", try_parse_dates=True).equals(first)
    assert pl.concat(republish_copies(series)).sort("release", "copy", maintain_order=True).equals(first)


def republish_copies(series):
    return list(republish.copies(series.published_folder, 2))


def intervals_right(folder, people):
    """How many of the intervals of counts by value and age, of means and of slopes have the truth in them."""
    tables, right = list(republish.copies(folder, 25)), []

    def look(measure):
        mean, error = republish.pooled([measure(table) for table in tables])
        right.append(abs(mean - measure(people)) <= 2.06 * error + 0.5)

    for disease in people["disease"].unique():
        for old in (20, 40, 60, 80):
            look(lambda table, old=old, ill=disease: table.filter(pl.col("age") < old, disease=ill).height)
        look(lambda table, ill=disease: table.filter(disease=ill)["age"].mean())
        look(
            lambda table, ill=disease: (
                1000
                * np.polyfit(table["age"].to_numpy().astype(float), (table["disease"] == ill).to_numpy(), 1)[
                    0
                ]
            )
        )
    return np.mean(right)


@pytest.mark.slow("takes more than a second")
def test_copies_differ_as_far_as_a_reader_errs(hospital, tmp_path, monkeypatch):
    """If values are dealt out by lot and places have no lots of the copy, intervals are too short."""
    ((date, people),) = hospital_snapshots(1, 3000, 5)
    made = republish.release(people, republish.Contract.load(hospital.contract), date=date)
    folder = made.write(tmp_path / "v1")
    assert intervals_right(folder, people) > 0.93
    for name in ("EVENLY", "IN_LINE", "JOINTLY", "CROWDED"):
        monkeypatch.setattr(learning, name, 0.0)
    monkeypatch.setattr(learning, "NOISE", 1e9)
    assert intervals_right(folder, people) < 0.85


def test_no_folder_is_written_over_and_no_other_kind_is_written(folder, tmp_path, republish):
    (tmp_path / "there").mkdir()
    code, out, (err,) = republish("copies", folder, tmp_path / "there")
    assert (code, out) == (2, [])
    assert "is there already; name a new folder" in err
    assert not list((tmp_path / "there").iterdir())
    assert republish("copies", folder, tmp_path / "new", "--format", "xlsx")[0] == 2
    assert not (tmp_path / "new").exists()


def test_copies_that_were_not_finished_leave_nothing(folder, tmp_path, republish, monkeypatch):
    """The second copy can't be drawn; the next command begins anew."""
    drawn = learning.drawn_copies

    def broken(*words):
        yield next(drawn(*words))
        raise MemoryError

    monkeypatch.setattr("republish.orchestration.readers.estimate.copies.drawn_copies", broken)
    assert republish("copies", folder, tmp_path / "new", "--copies", 2)[0] != 0
    assert not list(tmp_path.glob("*new*"))
    assert not list(tmp_path.glob(".*new*"))


@pytest.mark.slow("takes more than a second")
def test_columns_that_decide_each_other_are_counted_with_errors_that_hold(tmp_path, monkeypatch):
    """Regions of birth and of life: without places that are drawn anew, intervals are too short."""
    random, number = np.random.default_rng(3), 4000
    regions = np.array([f"R{n:02}" for n in range(12)])
    born = random.choice(12, number, p=(shares := 1 / np.arange(2, 14)) / shares.sum())
    lives = np.where(random.random(number) < 0.7, born, random.permutation(born))
    people = pl.DataFrame(
        {
            "person": np.arange(number),
            "born": regions[born],
            "lives": regions[lives],
            "age": random.integers(18, 80, number),
            "job": (born + random.integers(0, 8, number)) % 10,
        }
    )
    order = [{"name": name, "kind": "category", "order": regions.tolist()} for name in ("born", "lives")]
    contract = republish.Contract.of(
        {
            "identifier": "person",
            "quasi_identifiers": [*order, {"name": "age", "kind": "number", "domain": [18, 79]}],
            "sensitive": {"name": "job"},
            "principle": {"name": "m_invariance", "m": 4},
        }
    )
    key = republish.State.begin("a key that is the same in each run")
    folder = republish.release(people, contract, key, date="2024-01-01").write(tmp_path / "v1")
    true = people.group_by("born", "lives").len("people").filter(pl.col("people") >= 50)

    def right():
        tables = [table.group_by("born", "lives").len() for table in republish.copies(folder, 25)]
        held = []
        for born, lives, people in true.iter_rows():
            found = [table.filter(born=born, lives=lives)["len"].sum() for table in tables]
            mean, error = republish.pooled(found)
            held.append(abs(mean - people) <= 2.06 * error + 0.5)
        return np.mean(held)

    assert right() > 0.8
    monkeypatch.setattr(learning, "REDRAWN", 0)
    assert right() < 0.7


@pytest.mark.slow("takes more than a second")
def test_numbers_in_bins_are_drawn_as_numbers_and_missing_ones_are_none(tmp_path):
    """What people cost, whose mean and median are estimated: bins of a fourth of the people each or so."""
    random, number = np.random.default_rng(5), 2000
    cost = np.exp(random.normal(6, 0.8, number)).round().clip(0, 4999)
    people = pl.DataFrame(
        {
            "person": np.arange(number),
            "age": random.integers(18, 80, number),
            "cost": pl.Series(cost).cast(pl.Int64).set(pl.Series(random.random(number) < 0.1), None),
        }
    )
    edges = [0, 200, 300, 400, 550, 800, 1200, 5000]
    contract = republish.Contract.of(
        {
            "identifier": "person",
            "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [18, 79]}],
            "sensitive": {"name": "cost", "kind": "number", "bins": edges, "missing": "publish"},
            "principle": {"name": "m_invariance", "m": 4},
        }
    )
    key = republish.State.begin("a key that is the same in each run")
    folder = republish.release(people, contract, key, date="2024-01-01").write(tmp_path / "v1")
    (copy,) = republish.copies(folder, 1)
    assert copy["cost"].dtype == pl.Float64
    assert copy["cost"].null_count() == people["cost"].null_count()
    for low, high in itertools.pairwise(edges):
        inside = pl.col("cost").is_between(low, high, closed="left")
        assert copy.filter(inside).height == people.filter(inside).height
    known = people["cost"].drop_nulls()
    true = {
        "avg(cost)": known.mean(),
        "median(cost)": known.median(),
        "quantile_cont(cost, 0.9)": known.quantile(0.9),
        "sum(cost) / count(*)": known.sum() / number,
    }
    for of, truth in true.items():
        (found,) = republish.estimate(folder, of=of).iter_rows(named=True)
        assert found["low"] <= truth <= found["high"], of
        assert found["high"] - found["low"] < 250
    certain = republish.estimate(folder, "cost >= 550")
    assert certain["people"].item() == certain["low"].item() == people.filter(pl.col("cost") >= 550).height
    between = republish.estimate(folder, "cost >= 600 and cost < 700")
    inside = people.filter(pl.col("cost").is_between(600, 700, closed="left")).height
    assert between["low"].item() <= inside <= between["high"].item()


def test_numbers_in_bins_have_chance_of_their_own():
    """No copy's bins are off by what moves the people of another one."""
    moves = {float(move) for copy in range(20) for move in abs(learning._Lots.of(1, copy).moves)}
    assert not moves & {abs(np.random.default_rng([1, copy, BINS]).normal()) for copy in range(1, 21)}
