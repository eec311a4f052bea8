"""`republish associate`, as a researcher types it; simulated releases are few here, and small."""

import csv
import json

import polars as pl
import pytest

from republish.anonymize.learning import associations
from republish.orchestration.readers import associations as readers
from republish.orchestration.readers.associations import Found, Learned
from tests.hospital import RELEASES, build, make

pytestmark = pytest.mark.slow("simulates releases")

ANATOMY = {"name": "m_invariance", "m": 2, "format": "anatomy", "on_ineligible": "refuse"}
WORDS = ("--of", "disease", "--on", "age", "--on", "sex")


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(associations, "APART", 16)
    monkeypatch.setattr(associations, "NEAR", (2, 3))


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """A series of two releases with exact quasi-identifiers."""
    folder = tmp_path_factory.mktemp("exact")
    return make(build(folder).under(ANATOMY).series(folder / "home"), *RELEASES[:2])


@pytest.mark.usefixtures("quick")
def test_each_value_has_its_slopes_differences_and_means_or_it_is_said_that_they_cannot_be_told(
    exact, republish
):
    folder = exact.published(RELEASES[0])
    code, lines, err = republish("associate", folder, *WORDS)
    assert (code, err) == (0, [])
    assert lines[0].split() == ["disease", "column", "measure", "label", "estimate", "low", "high"]
    assert any("M rather than F" in line or "F rather than M" in line for line in lines)
    assert any("can't tell" in line for line in lines)  # of values that a few people have
    assert any("can be told, by 21 simulated releases. Misfit" in line for line in lines)

    code, lines, err = republish("associate", folder, *WORDS, "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(lines))
    assert {(row["column"], row["measure"]) for row in rows} == {
        ("age", "slope"),
        ("sex", "difference"),
        ("age", "mean"),
    }
    assert "simulated releases" in " ".join(err)
    told = [row for row in rows if row["estimate"]]
    assert all(float(row["low"]) < float(row["estimate"]) < float(row["high"]) for row in told)

    code, lines, err = republish("associate", folder, *WORDS, "--format", "json")
    assert (code, err) == (0, [])
    answer = json.loads("\n".join(lines))
    assert [row["disease"] for row in answer["associations"]] == [row["disease"] for row in rows]
    assert answer["simulated"] == 21
    assert set(answer["little"]) <= {"age", "sex"}
    assert answer["held_back"] == {RELEASES[0]: 0}
    assert "P0" not in "\n".join(lines)  # nobody's identifier


@pytest.mark.parametrize(
    ("misfit", "little", "said"),
    [
        (0.7, [], "Misfit 0.7: simulated releases are like this one. On 26 tables"),
        (1.4, [], "releases are like this one. Intervals are 1.4 times as wide for it. On 26"),
        (3.1, [], "Intervals are 2.0 times as wide for it. That may be too little: this release is not like"),
        (0.7, ["age", "sex"], "like this one. By age, sex, values differ by little more than the errors"),
    ],
)
def test_it_is_said_how_far_to_trust_what_is_told(misfit, little, said, exact, republish, monkeypatch):
    rows = pl.DataFrame({"disease": ["flu"], "column": ["age"], "measure": ["slope"], "label": [None]})
    rows = rows.with_columns(estimate=0.1, low=0.0, high=0.2)
    found = Found(rows, misfit, 52, little)
    monkeypatch.setattr(readers, "associated", lambda *_: found)
    code, lines, _ = republish("associate", exact.published(RELEASES[0]), *WORDS)
    assert code == 0
    assert said in " ".join(lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--of", "age", "--on", "age"), "--of age: is no sensitive column; there is disease"),
        (("--of", "disease", "--on", "height"), "--on height: is no quasi-identifier; there are age, zip"),
        (("--of", "disease", "--on", "disease"), "--on disease: is no quasi-identifier"),
    ],
)
def test_a_column_that_cannot_be_asked_for_is_named_with_those_that_can(words, said, exact, republish):
    code, out, (err,) = republish("associate", exact.published(RELEASES[0]), *words)
    assert (code, out) == (2, [])
    assert said in err


@pytest.mark.parametrize("command", ["associate", "copies"])
def test_only_a_first_release_is_taken_and_the_error_names_it(command, exact, tmp_path, republish):
    words = {"associate": WORDS, "copies": (tmp_path / "new", "--model")}[command]
    series = exact.published(RELEASES[0]).parent
    code, _, (err,) = republish(command, series, *words)
    assert code == 2
    assert "has 2 releases" in err
    assert err.endswith(f"name {exact.published(RELEASES[0])}")
    code, _, (err,) = republish(command, exact.published(RELEASES[1]), *words)
    assert code == 2
    assert "is release 2 of its series" in err
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("quick")
def test_copies_by_the_model_name_the_columns_that_they_can_be_asked(exact, tmp_path, republish, monkeypatch):
    """Of others, and where nothing is told, it is said."""
    folder, file = exact.published(RELEASES[0]), tmp_path / "new"
    told = {"age": True, "zipcode": False, "sex": True, "birthplace": True}

    def columns_told(self, _dealt=()):
        return [one.name for _, one in self.asked.attributes if told[one.name]]

    monkeypatch.setattr(Learned, "columns_told", columns_told)
    code, (what, said), err = republish("copies", folder, file, "--copies", 3, "--model", "--seed", 4)
    assert (code, err) == (0, [])
    assert what.endswith(f"new: 3 copies of {RELEASES[0]}, of 300 people")
    assert said == (
        "They show how values go with age, sex, birthplace."
        " They can't show it for zipcode: leave that out of models."
    )
    tables = pl.read_parquet(file / "*.parquet")
    assert republish("copies", folder, tmp_path / "lot", "--copies", 3)[0] == 0
    by_lot = pl.read_parquet(tmp_path / "lot" / "*.parquet")
    assert tables.schema == by_lot.schema
    everything = tables.columns[:-1]
    assert tables.select(everything).sort(everything).equals(by_lot.select(everything).sort(everything))
    for some in (tables, by_lot):
        counts = some.group_by("copy", "disease").len().sort("copy", "disease")
        assert counts["len"].to_list()[: len(counts) // 3] * 3 == counts["len"].to_list()
    assert republish("copies", folder, tmp_path / "b", "--copies", 3, "--model", "--seed", 4)[0] == 0
    assert pl.read_parquet(tmp_path / "b" / "*.parquet").equals(tables)

    told |= dict.fromkeys(told, False)
    monkeypatch.setattr(Learned, "dealings", None)  # no table is made
    code, out, (err,) = republish("copies", folder, tmp_path / "none", "--model")
    assert (code, out) == (2, [])
    assert "how disease goes with other columns can't be told; without --model" in err
    assert not (tmp_path / "none").exists()


def test_intervals_and_an_empty_folder_are_refused_with_the_way_out(series, tmp_path, republish):
    code, _, (err,) = republish("associate", series.published(RELEASES[0]), *WORDS)
    assert code == 2
    assert "publishes intervals" in err
    assert "format: anatomy" in err
    (tmp_path / "empty").mkdir()
    code, _, err = republish("associate", tmp_path / "empty", *WORDS)
    assert code == 2
    assert "empty" in " ".join(err)


@pytest.mark.usefixtures("quick")
def test_nothing_is_told_where_releases_cannot_be_simulated(exact, republish, monkeypatch):
    def refuses(_contract):
        return lambda _people, _draw: None

    monkeypatch.setattr("republish.orchestration.readers.associations.publisher_of", refuses)
    code, out, (err,) = republish("associate", exact.published(RELEASES[0]), *WORDS)
    assert (code, out) == (2, [])
    assert "can't tell: the algorithm refuses most releases" in err
