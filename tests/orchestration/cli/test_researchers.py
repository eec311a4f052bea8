"""What pages and published folders have researchers type, in tools of their own: it runs, and counts right.

An example is skipped where its tool is not there.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import republish as rp
from tests.orchestration.cli.test_pages_run import DOCS, blocks

PAGE = DOCS / "how-to/count_people.md"
CLINIC = {
    "identifier": "patient",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 119]},
        {"name": "region", "kind": "category", "order": ["east", "north", "south"]},
    ],
    "sensitive": {"name": "diagnosis"},
    "principle": {"name": "m_invariance", "m": 3},
}
RELEASE, PEOPLE = "2025-01-01", 900


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A researcher's folder: a release of the clinic under its own name, and nothing else."""
    folder = tmp_path_factory.mktemp("reader")
    draw = np.random.default_rng(4)
    age = draw.integers(0, 95, PEOPLE)
    people = pl.DataFrame(
        {
            "patient": [f"P{number}" for number in range(PEOPLE)],
            "age": age,
            "region": draw.choice(["east", "north", "south"], PEOPLE),
            "diagnosis": np.where(
                draw.random(PEOPLE) < age / 400,
                "asthma",
                draw.choice(["flu", "gout", "none", "ulcer"], PEOPLE),
            ),
        }
    )
    rp.release(people, rp.Contract.of(CLINIC), date=RELEASE).write(folder / "clinic/v1")
    return folder


@pytest.fixture
def copies(reader, republish, tmp_path, monkeypatch):
    """The folder `copies` beside a reader, as `republish copies` writes it in a format."""
    monkeypatch.chdir(tmp_path)

    def written(form):
        code, *_ = republish("copies", reader / "clinic/v1" / RELEASE, "copies", "--format", form)
        assert code == 0
        return tmp_path

    return written


def example(kind):
    """The page's only example in a language."""
    ((_, text),) = blocks(PAGE, kind)
    return text


def test_duckdb_alone_counts_on_copies_as_estimate_does(copies, republish):
    copies("parquet")
    (found,) = duckdb.connect().execute(example("sql")).fetchall()
    asked = ("estimate", "copies", "--where", "age >= 70 AND diagnosis = 'asthma'", "--format", "json")
    _, out, _ = republish(*asked)
    (told,) = json.loads("\n".join(out))["estimates"]
    assert found == pytest.approx((told["people"], told["standard_error"]), abs=0.051)
    assert found[1] > 0


@pytest.mark.slow("starts a process")
def test_python_pools_what_copies_say(reader):
    code = f"{example('python')}\nprint(mean, error)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=reader, check=True, capture_output=True, text=True)
    mean, error = map(float, ran.stdout.split())
    (told,) = rp.estimate(reader / "clinic/v1" / RELEASE, "diagnosis = 'asthma'", of="avg(age)").rows(
        named=True
    )
    assert (mean, error) == pytest.approx((told["estimate"], told["standard_error"]), rel=0.01)


@pytest.mark.slow("starts R")
def test_r_pools_regressions_on_copies(copies):
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("there is no R here")
    if subprocess.run([rscript, "-e", "library(mitools)"], check=False, capture_output=True).returncode:
        pytest.skip("R has no package mitools here")
    folder = copies("csv")
    ran = subprocess.run(
        [rscript, "-e", example("r")], cwd=folder, check=True, capture_output=True, text=True
    )
    slopes = []
    for file in sorted(Path(folder, "copies").glob("*.csv")):
        copy = pl.read_csv(file)
        slopes.append(np.polyfit(copy["age"], (copy["diagnosis"] == "asthma").cast(pl.Float64), 1)[0])
    assert len(slopes) == 25
    (line,) = (line for line in ran.stdout.splitlines() if line.startswith("age"))
    assert float(line.split()[1]) == pytest.approx(np.mean(slopes), rel=0.01)


def commands(readme):
    """The commands that a published README has somebody type, as words."""
    ((block,),) = [re.findall(r"^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)]
    return [shlex.split(line) for line in block.splitlines()]


@pytest.mark.parametrize(
    ("changes", "by"),
    [
        ({}, ["--by", "diagnosis"]),
        ({"sensitive": {"name": "the patient's diagnosis"}}, ["--by", "the patient's diagnosis"]),
        ({"sensitive": {"name": "a `b`"}}, ["--by", "region"]),
        ({"sensitive": {"name": "cost", "kind": "number", "bins": [0, 10, 20, 30, 40]}}, ["--by", "region"]),
    ],
)
def test_the_commands_of_a_published_readme_run(changes, by, republish, tmp_path, monkeypatch):
    declared = CLINIC | changes
    name = declared["sensitive"]["name"]
    values = [5, 15, 25, 35] if "bins" in declared["sensitive"] else ["a", "b", "c", "d"]
    people = pl.DataFrame(
        {
            "patient": [f"P{number}" for number in range(40)],
            "age": [number % 90 for number in range(40)],
            "region": ["east", "north"] * 20,
            name: values * 10,
        }
    )
    folder = rp.release(people, rp.Contract.of(declared), date=RELEASE).write(tmp_path / "series")
    estimate, copied = commands((folder / "README.md").read_text())
    assert estimate == ["republish", "estimate", ".", *by]
    assert copied == ["republish", "copies", ".", "~/copies"]
    monkeypatch.chdir(folder)
    code, out, err = republish(*estimate[1:])
    assert (code, err) == (0, [])
    assert len(out) >= 3
    code, *_ = republish(*copied[1:-1], tmp_path / "copies")
    assert code == 0
    assert len(list((tmp_path / "copies").glob("*.parquet"))) == 25
