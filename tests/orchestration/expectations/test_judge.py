"""Great Expectations judges; whatever goes wrong with it, no promise is kept by it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from multiprocessing import Pipe, active_children, get_context
from pathlib import Path
from pickle import UnpicklingError
from random import Random

import polars as pl
import pytest

from republish.anonymize.promise import Equivalence, Signatures, promise_of
from republish.anonymize.promise.check import figures_of
from republish.anonymize.promise.rules import RULES, Coverage
from republish.orchestration.expectations import judge
from republish.orchestration.expectations.judge import Judge, _answer
from tests.plain_judge import SUITES, passed, suite

ROOT = Path(__file__).parents[3]

KEPT = {
    "m_uniqueness": {
        "group_id": [1, 2],
        "tuples": [2, 3],
        "values": [2, 3],
        "newcomers": [0, 1],
        "least": [2, 3],
    },
    "signature_invariance": {
        "signature": [0],
        "remembered": [9],
        "same": [8],
        "disjoint": [1],
        "overlapping": [0],
    },
    "company": {
        "group_id": [1, 2],
        "people": [2, 3],
        "share": [0.5, 0.3],
        "promised": [0.5, 0.5],
        "too_large": [0, 0],
    },
    "whole_groups": {"signature": [0], "newcomers": [9], "uneven": [0]},
    "coverage": {"column": ["age", "disease"], "people": [9, 9], "uncovered": [0, 0]},
    "minimum_widths": {
        "column": ["age"],
        "min_width": [2.0],
        "groups": [4],
        "narrower": [0],
        "mean_width": [3.5],
        "off_grid": [0],
    },
    "counterfeits": {
        "rows": [10],
        "hosted": [9],
        "counterfeits": [1],
        "wrong_counts": [0],
        "empty_groups": [0],
        "people": [9],
        "held_back": [0],
        "stated": [0],
        "strangers": [0],
    },
    "snapshot": {
        "column": ["age"],
        "role": ["quasi-identifier"],
        "rows": [9],
        "nulls": [0],
        "duplicates": [0],
        "wrong_type": [0],
        "outside_domain": [0],
        "misspelt": [0],
    },
    "expected": {
        "measure": ["people", "carried"],
        "found": [300.0, 0.9],
        "least": [1.0, 0.5],
        "most": [None, None],
        "accepted": [False, False],
        "odd": [0, 0],
    },
}
"""Evidence of every promise kept."""

BROKEN = [
    ("m_uniqueness", {"tuples": [3, 3]}),
    ("m_uniqueness", {"tuples": [1, 3], "values": [1, 3], "least": [1, 3]}),
    ("m_uniqueness", {"least": [3, 3]}),
    ("signature_invariance", {"overlapping": [1]}),
    ("expected", {"odd": [0, 1]}),
    ("coverage", {"uncovered": [0, 1]}),
    ("minimum_widths", {"narrower": [1]}),
    ("minimum_widths", {"off_grid": [1]}),
    ("counterfeits", {"wrong_counts": [1]}),
    ("counterfeits", {"empty_groups": [1]}),
    ("counterfeits", {"held_back": [1]}),
    ("counterfeits", {"strangers": [1]}),
    ("snapshot", {"nulls": [1]}),
    ("snapshot", {"duplicates": [1]}),
    ("snapshot", {"wrong_type": [1]}),
    ("snapshot", {"outside_domain": [1]}),
    ("snapshot", {"misspelt": [1]}),
]
PARAMETERS = {"fewest_groups": 1, "fewest_remembered": 1, "fewest_arrivals": 1}


def judged(promise, **changes):
    (verdict,) = judge({promise: pl.DataFrame(KEPT[promise] | changes)}, PARAMETERS)
    return verdict


@pytest.mark.parametrize("promise", KEPT)
def test_a_promise_that_is_kept(promise):
    verdict = judged(promise)
    assert verdict.passed, verdict.broken
    declared = json.loads((SUITES / f"{promise}.json").read_text())
    assert verdict.figures["expectations"] == len(declared["expectations"])
    assert verdict.figures["rows of evidence"] == len(next(iter(KEPT[promise].values())))


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(("promise", "changes"), BROKEN)
def test_a_promise_that_is_broken(promise, changes):
    verdict = judged(promise, **changes)
    assert not verdict.passed
    assert len(verdict.broken) == 1
    assert verdict.broken[0].endswith("Not so in 1 rows of evidence.")


@pytest.mark.parametrize("promise", KEPT)
def test_empty_evidence_is_no_promise_kept_where_there_are_people(promise):
    empty = pl.DataFrame(KEPT[promise]).clear()
    (verdict,) = judge({promise: empty}, PARAMETERS)
    assert not verdict.passed
    assert verdict.broken[0].endswith("The evidence has 0 rows.")


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("file", sorted(SUITES.glob("*.json")), ids=lambda file: file.stem)
def test_what_other_tests_see_without_it_is_its_verdict(file):
    """Of every suite, tables of a few rows in which a value may be missing."""
    columns = sorted({column for _, of in suite(file.stem) for name, column in of.items() if "col" in name})
    random = Random(file.stem)
    for rows in (0, 1, 2, 2, 2, 2, 3, 3):
        values = [0, 0, 0, 1, 2, None][: rows * 2]
        table = {column: random.choices(values, k=rows) if rows else [] for column in columns}
        evidence = pl.DataFrame(table, schema=dict.fromkeys(columns, pl.Int64))
        (verdict,) = judge({file.stem: evidence}, PARAMETERS | {"fewest_cuts": 0})
        seen = passed(file.stem, evidence, PARAMETERS | {"fewest_cuts": 0})
        assert seen == (verdict if verdict.passed else None)


@pytest.mark.parametrize("promise", ["m_uniqueness", "signature_invariance"])
def test_a_release_of_nobody_and_a_first_release_have_no_groups_and_no_signatures_to_show(promise):
    empty = pl.DataFrame(KEPT[promise]).clear()
    nobody = {"fewest_groups": 0, "fewest_remembered": 0, "fewest_arrivals": 0}
    (verdict,) = judge({promise: empty}, PARAMETERS | nobody)
    assert verdict.passed, verdict.broken


def test_figures_are_what_was_promised_and_what_was_found():
    """Nothing is summed that is no count: neither the fewest of a group nor the people of each column."""
    evidence = pl.DataFrame({"column": ["age", "sex"], "people": [9, 9], "uncovered": [1, 2]})
    found = Coverage.check.figures(figures_of(evidence))
    assert found == {"people": 9, "rows of evidence": 2, "uncovered": 3}
    assert judged("coverage").with_words("", evidence, found).figures == found | {"expectations": 2}
    cuts = Equivalence(3).check
    assert cuts.figures(figures_of(pl.DataFrame({"min_cut": [9, 7], "safe": [5, 5]}))) == {
        "safe": 5,
        "smallest cut": 7,
        "rows of evidence": 2,
    }


CHECKS = {
    check.name: check
    for check in (
        *(
            part.check
            for part in promise_of(
                {
                    "candidates": 3,
                    "largest_share": 0.5,
                    "signatures": "unique",
                    "equivalence": 2,
                    "breach_probability": 0.5,
                    "people_per_group": 2,
                    "known_algorithm": 0.5,
                    "linked_values": 2,
                    "join": {"x": ["a"], "y": ["b"]},
                }
            )
        ),
        Signatures("even").check,
        *(rule.check for rule in (kind() for kind in RULES) if rule.check),
    )
}
"""Every check that a promise or a format brings, by name."""


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_has_a_suite_of_its_name_and_names_its_figures(name):
    check, suite = CHECKS[name], json.loads((SUITES / f"{name}.json").read_text())
    assert suite["name"] == name
    stated = re.findall(r"{(\w+)", check.found)
    columns = [figure.rpartition("_")[0] for figure in stated if re.search("_(sum|min|max|new)$", figure)]
    table = pl.DataFrame({column: [2, 1] for column in [*columns, "newcomers"]})
    assert len(check.figures(figures_of(table))) == len(stated)


def test_there_is_no_suite_that_nothing_is_judged_by():
    assert {file.stem for file in SUITES.glob("*.json")} == {*CHECKS, "attack", "expected", "snapshot"}


@pytest.mark.parametrize(
    ("promise", "evidence"),
    [
        ("coverage", {"column": ["age"]}),  # an expectation on a column that isn't there
        ("m_uniqueness", {"nothing": [1]}),
        ("no_such_suite", {"a": [1]}),
        ("coverage", {"uncovered": ["not a number"]}),
    ],
)
def test_an_exception_inside_great_expectations_is_no_promise_kept(promise, evidence):
    (verdict,) = judge({promise: pl.DataFrame(evidence)}, PARAMETERS)
    assert not verdict.passed
    assert verdict.broken
    assert judged("coverage").passed  # and the next question is answered


def test_a_parameter_that_is_missing_is_no_promise_kept():
    (verdict,) = judge({"m_uniqueness": pl.DataFrame(KEPT["m_uniqueness"])}, {})
    assert not verdict.passed


@pytest.mark.slow("starts processes")
def test_a_judge_who_dies_keeps_no_promise_and_is_followed_by_another():
    assert judged("coverage").passed
    (process,) = active_children()
    process.kill()
    process.join()
    assert "ended before it gave a verdict" in judged("coverage").broken[0]
    assert judged("coverage").passed


@pytest.mark.parametrize("error", [EOFError, BrokenPipeError, UnpicklingError])
def test_an_answer_that_is_cut_off_keeps_no_promise(monkeypatch, error):
    def cut_off(*_):
        raise error

    monkeypatch.setattr(Judge, "ask", cut_off)
    assert not judged("coverage").passed


ASKS = """
import os, sys
from multiprocessing import Pipe, active_children, get_context

import polars as pl

from republish.orchestration.expectations import judge, start_judge

if __name__ == "__main__":
    start_judge()
    print(active_children()[0].pid, flush=True)
"""


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize("ending", ["judge({'coverage': pl.DataFrame()}, {})", "os.kill(os.getpid(), 9)"])
def test_the_judge_ends_with_whoever_asks(tmp_path, ending):
    script = tmp_path / "asks.py"
    script.write_text(f"{ASKS}    {ending}\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    asked = subprocess.run([sys.executable, script], env=environment, capture_output=True, check=False)
    assert asked.stderr == b""
    judge = Path(f"/proc/{int(asked.stdout)}/stat")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and judge.exists() and judge.read_text().split()[2] != "Z":
        time.sleep(0.05)
    assert not judge.exists() or judge.read_text().split()[2] == "Z"


@pytest.mark.slow("takes more than a second")
def test_ctrl_c_is_for_whoever_asks_from_the_first_process_on(tmp_path):
    script = tmp_path / "asks.py"
    script.write_text(f"{ASKS}    print(open(f'/proc/{{active_children()[0].pid}}/status').read())\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    asked = subprocess.run([sys.executable, script], env=environment, capture_output=True, check=False)
    (blocked,) = re.findall(rb"^SigBlk:\s*([0-9a-f]+)", asked.stdout, re.MULTILINE)
    assert int(blocked, 16) & 1 << signal.SIGINT - 1


TOLD_WHILE_IT_IMPORTS = """
import importlib, os, signal, sys, types
from multiprocessing import Pipe


class Suites(types.ModuleType):
    def __getattr__(self, name):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except BaseException:
            pass
        return None


answer = importlib.import_module("republish.orchestration.expectations.judge")._answer
sys.modules["republish.orchestration.expectations.suites"] = Suites("suites")
ours, questions = Pipe()
answer(questions)
"""


@pytest.mark.slow("takes more than a second")
def test_a_judge_ends_when_it_is_told_to_while_a_library_passes_over_every_error(tmp_path):
    script = tmp_path / "told.py"
    script.write_text(TOLD_WHILE_IT_IMPORTS)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, script], env=environment, timeout=100, check=False).returncode == 0


@pytest.mark.slow("takes more than a second")
def test_a_judge_whose_asker_was_killed_before_the_answer_says_nothing(capfd):
    ours, questions = Pipe()
    ours.send(({}, {}))
    ours.close()
    process = get_context("spawn").Process(target=_answer, args=(questions,))
    process.start()
    questions.close()
    process.join()
    assert (process.exitcode, capfd.readouterr().err) == (0, "")


def test_every_suite_says_what_it_means():
    for file in SUITES.glob("*.json"):
        declared = json.loads(file.read_text())
        assert declared["name"] == file.stem
        assert declared["notes"]
        assert declared["expectations"]
        assert all(expectation["notes"].endswith(".") for expectation in declared["expectations"])
