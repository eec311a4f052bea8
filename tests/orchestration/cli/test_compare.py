"""`republish compare`: what m, a format and a principle would cost, with nothing published or changed."""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.hospital import IDENTIFIER, RELEASES, everything, make

DOCS = Path(__file__).parents[3] / "docs/how-to/publish_a_view.md"


@pytest.fixture
def compare(republish, hospital, home):
    """What a comparison prints on standard output; nothing changes, and no identifier is said."""

    def run(*words, code=0):
        before = everything(hospital.folder), everything(home)
        found, out, err = republish("compare", hospital.contract, "--home", home, *words)
        assert (everything(hospital.folder), everything(home)) == before
        assert not IDENTIFIER.search("\n".join([*out, *err]).encode())
        assert found == code
        return out if code in {0, 3} else err

    return run


def options(lines):
    return json.loads("\n".join(lines))["options"]


@pytest.mark.slow("makes and audits many releases")
def test_the_contracts_own_line_is_what_a_new_series_would_be(compare, hospital, home):
    """The same key gives the same releases, also where the series is begun already."""
    found = json.loads(
        "\n".join(compare("--values", "3", "--principles", "m_invariance", "--format", "json"))
    )
    assert (found["releases"], found["people"], found["sampled"]) == (list(RELEASES), 300, 300)
    own, anatomy = found["options"]
    assert (own["is_declared"], anatomy["is_declared"]) == (True, False)
    assert own["promised"] == own["best_guess"] == pytest.approx(1 / 3)
    shutil.copytree(home, home.parent / "new")
    series = make(hospital.series(home.parent / "new"), RELEASES[2])
    counts = [series.committed(release).counts for release in RELEASES]
    assert own["counterfeits"] == sum(one.counterfeits for one in counts) / sum(one.tuples for one in counts)
    assert own["held_back"] == sum(one.held_back for one in counts) / 900
    assert anatomy["learned"] is None  # it is refused
    assert 0.2 < own["learned"] < 1


@pytest.mark.slow("takes more than a second")
def test_a_larger_m_costs_more_and_the_largest_that_works_is_found(compare, hospital):
    most = hospital.snapshot(RELEASES[0])["disease"].value_counts()["count"].max()
    hospital.declare(principle={"on_ineligible": "refuse", "people_per_group": 1})
    lines = compare("--values", "2,4,300", "--principles", "m_invariance", "--releases", "1")
    assert lines[0] == f"hospital/v1: the snapshot of {RELEASES[0]}, 300 people"
    assert lines[1].endswith(f"is a right guess for {100 * most / 300:.1f} % of the people.")
    rows = [line.split() for line in lines if line.startswith("  m = ")]
    assert [row[2] for row in rows] == ["2", "4", str(300 // most), "300"]
    assert rows[-1][3:] == ["refused"]
    learned, lost = ([float(row[at]) for row in rows[:3]] for at in (7, 9))
    assert learned == sorted(learned, reverse=True)
    assert lost == sorted(lost)
    assert lost[0] < lost[-1]
    (why,) = (line for line in lines if "the largest m that works" in line)
    assert f"works is {300 // most}; 300 is refused: m (300) needs as many sensitive values" in why
    (why,) = (line for line in lines if "min_width" in line)
    assert why.startswith("  refused: min_width of age, zipcode can't be kept")


@pytest.mark.slow("makes and audits many releases")
def test_all_principles_and_formats_that_the_columns_allow(compare, hospital):
    hospital.under({"name": "m_invariance", "m": 2, "format": "anatomy"})
    found = options(compare("--values", "2", "--format", "json", "--releases", "2"))
    works = {(one["principle"], one["format"]): one for one in found if one["refused"] is None}
    assert set(works) == {
        ("m_invariance", "generalization"),
        ("m_invariance", "anatomy"),
        ("e_equivalence", "anatomy"),
        ("global_guarantee", "generalization"),
        ("streamliner", "generalization"),
    }
    assert works["m_invariance", "anatomy"]["information_lost"] == 0
    assert works["m_invariance", "generalization"]["information_lost"] > 0
    assert works["m_invariance", "anatomy"]["is_declared"]
    by_e = options(compare("--parameter", "e", "--values", "2,3", "--format", "json", "--releases", "1"))
    assert {(one["principle"], one["parameter"]) for one in by_e} == {("e_equivalence", "e")}


@pytest.mark.slow("takes more than a second")
def test_values_that_come_and_go_are_for_one_principle(compare, hospital):
    hospital.declare(sensitive={"semantics": "transient"})
    hospital.under(
        {"name": "global_guarantee", "l": 2, "strategy": "minimum"}, sensitive={"semantics": "transient"}
    )
    found = options(compare("--values", "2", "--releases", "2", "--format", "json"))
    assert {one["principle"] for one in found if one["refused"] is None} == {"global_guarantee"}
    assert all("come and go" in one["refused"] for one in found if one["refused"] is not None)


@pytest.mark.slow("takes more than a second")
def test_the_same_people_are_in_every_sample(compare):
    lines = compare("--people", "100", "--values", "3", "--principles", "m_invariance", "--format", "json")
    found = json.loads("\n".join(lines))
    assert 100 <= found["sampled"] < 130
    assert found["people"] == 300
    assert found["options"][0]["counterfeits"] < 0.1  # had others been drawn each time, all would be new


@pytest.mark.slow("makes and audits many releases")
def test_a_comparison_is_drawn_and_written_as_csv(compare, tmp_path):
    plot = tmp_path / "plot.svg"
    lines = compare("--values", "2,3", "--format", "csv", "--releases", "1", "--plot", plot)
    table = pl.read_csv("\n".join(lines).encode())
    assert {"principle", "format", "value", "refused", "median_error"} <= set(table.columns)
    drawn = plot.read_text()
    assert "median error of counts, %" in drawn
    assert "m = 3" in drawn


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--values", "2,one"), "2,one must be whole numbers from 2 on: 2,4,6"),
        (("--values", "1"), "1 must be whole numbers from 2 on"),
        (("--principles", "k_anonymity"), "k_anonymity is none; accepted: m_invariance, "),
        (("--parameter", "x"), "x is none; accepted: m, e, l"),
        (("--plot", "plot.pdf"), "plot.pdf must end in .svg"),
    ],
)
def test_words_that_mean_nothing_are_refused(compare, words, said):
    assert said in "\n".join(compare(*words, code=2))


def test_everything_refused_is_exit_code_3(compare, hospital):
    hospital.deliver(RELEASES[0], hospital.snapshot(RELEASES[0]).with_columns(disease=pl.lit("flu")))
    lines = compare("--values", "2,3", "--principles", "streamliner", "--releases", "1", code=3)
    assert lines[-2:-1] == ["streamliner, generalization"]
    assert lines[-1].startswith("  refused: counterfeit is refused with m = 2")


def test_snapshots_that_are_empty_or_missing_say_so(compare, hospital):
    hospital.deliver(RELEASES[0], hospital.snapshot(RELEASES[0])[:0])
    assert "there is nobody in" in compare(code=2)[0]
    hospital.file(RELEASES[0]).unlink()
    assert f"{RELEASES[0]}: no snapshot yet in" in compare(code=2)[0]


def test_a_contract_that_has_nothing_to_choose_is_refused(republish, tmp_path):
    (tmp_path / "t1").mkdir()
    for name, content in re.findall(r"cat > (\S+) <<'END'\n(.*?)END\n", DOCS.read_text(), re.DOTALL):
        (tmp_path / name).write_text(content)
    code, out, err = republish("compare", tmp_path / "named_view.yaml", "--home", tmp_path / "var")
    assert (code, out) == (2, [])
    assert "sequential has no number that could be chosen" in "\n".join(err)
    assert not (tmp_path / "var").exists()


@pytest.mark.slow("takes more than a second")
def test_every_level_of_a_hierarchy_is_a_line_and_none_without_one(compare, hospital):
    diseases = sorted(set(hospital.snapshot(RELEASES[0])["disease"]))
    groups = [f"group {number % 6}" for number in range(len(diseases))]
    rows = zip(diseases, groups, strict=True)
    paths = "\n".join(f"{disease};{group};{group == 'group 0'};any" for disease, group in rows)
    (hospital.folder / "diseases.csv").write_text(paths)
    assert "no sensitive column has one" in "".join(compare("--parameter", "level", code=2))
    hospital.declare(sensitive={"name": "disease", "values": None, "hierarchy": "diseases.csv", "level": 1})
    found = options(compare("--parameter", "level", "--format", "json", "--releases", "1"))
    assert [(one["parameter"], one["value"], one["is_declared"]) for one in found] == [
        ("disease level", level, level == 1) for level in range(3)
    ]
    assert found[0]["refused"] is None
    assert found[1]["refused"] is None
    assert "as many sensitive values" in found[2]["refused"]  # two groups of groups
    lines = compare("--parameter", "level", "--releases", "1")
    assert "  disease level = 1 *" in "\n".join(lines)
    assert lines[-2].startswith("  disease level 2 is refused: ")
