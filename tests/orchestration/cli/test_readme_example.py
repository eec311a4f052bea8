"""Every command of the command line on the example of the README: it ends well, and none in a stack."""

import csv
import json
import random
import re
import shutil
from pathlib import Path

import pytest

from republish.orchestration.cli.app import app
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from tests.hospital import make

README = Path(__file__).parents[3] / "README.md"
FIRST, SECOND, THIRD = "2024-01-01", "2024-07-01", "2025-01-01"
DIAGNOSES = ("none", "none", "none", "asthma", "flu", "gout", "stroke", "migraine", "ulcer")
FOR_CATALOGUES = """
title: Members
description: A row for each member
contact: data@example.org
governance: {controller: A clinic}
catalogue: {address: "https://example.org/members/v1", access: public}
"""
"""What `catalogue` needs beside the README's contract."""
SERVERS = {"demo", "ui"}
"""Commands that are about no contract: the demo's tests run the one, and the browser's the other."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The README's contract with three snapshots, the first two of which are released."""
    folder = tmp_path_factory.mktemp("example")
    contract = re.search(r"```yaml\n(product: members.*?)```", README.read_text(), re.DOTALL)[1]
    (folder / "members.yaml").write_text(contract + FOR_CATALOGUES)
    (folder / "members").mkdir()
    chance = random.Random(7)
    rows = [
        [
            f"{number:04}",
            f"{chance.randint(1930, 2005)}-0{chance.randint(1, 9)}-1{number % 10}",
            chance.choice(("north", "east", "south", "west")),
            chance.choice(DIAGNOSES),
        ]
        for number in range(150)
    ]
    for at, release in enumerate((FIRST, SECOND, THIRD)):
        with (folder / f"members/{release}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(
                [("member", "born", "region", "diagnosis"), *rows[4 * at : 138 + 4 * at]]
            )
    series = Series(load_contract(folder / "members.yaml"), Home.at(folder / "var"))
    make(series, FIRST, SECOND)
    return folder


@pytest.fixture
def example(built, tmp_path, monkeypatch):
    """A copy of it, which a command may change."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    (tmp_path / "one.txt").write_text("0017\n")
    (tmp_path / "latin.txt").write_bytes("0017\nMüller\n".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SERIES = "var/published/members/v1"
COMMANDS = (
    "init members --out drafted.yaml --yes --not-sensitive none",
    "schema",
    "validate --all members.yaml",
    f"release members.yaml --through {THIRD}",
    "validate members.yaml --profile",
    "compare members.yaml --values 3 --principles m_invariance --releases 1",
    "status members.yaml",
    "tidy --home var",
    "person members.yaml --out sheet --identifier one.txt",
    "forget members.yaml --identifiers one.txt",
    "forget members.yaml --identifiers one.txt --delete",
    "record members.yaml --out record",
    "catalogue members.yaml --out catalogue",
    "backup members.yaml --out copy.tar",
    f"verify {SERIES}",
    f"estimate {SERIES} --where region='north' --by diagnosis",
    f"copies {SERIES}/{FIRST} people --copies 2 --format csv",
    f"audit {SERIES} --truth members --contract members.yaml --out report",
)


def test_every_command_is_tried():
    """`restore` is below; `associate`, which takes exact quasi-identifiers, has a test of its own."""
    elsewhere = {"restore", "associate"}
    tried = {command.split()[0] for command in COMMANDS} | elsewhere | SERVERS
    assert tried == {command.callback.__name__ for command in app.registered_commands}


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.split()[:1]))
def test_every_command_ends_well(republish, example, command):
    code, _, err = republish(*command.split())
    assert code == 0, err
    assert not [line for line in err if line.startswith(("republish:", "Traceback"))]


@pytest.mark.slow("takes more than a second")
def test_a_backup_is_restored(republish, example):
    assert republish("backup", "var", "--out", "copy.tar")[0] == 0
    code, _, err = republish("restore", "copy.tar", "--home", "again", "--nothing-later")
    assert (code, err) == (0, [])


def test_a_sheet_has_the_day_of_birth_as_it_was_given(republish, example):
    republish("person", "members.yaml", "--out", "sheet", "--identifier", "one.txt")
    born = next(line for line in (example / f"members/{FIRST}.csv").open() if line.startswith("0017,"))
    (one,) = json.loads((example / "sheet/person.json").read_text())["series"]
    assert {row["born"] for row in one["rows"]} == {born.split(",")[1]}
    assert born.split(",")[1] in (example / "sheet/person.html").read_text()


def test_a_sheet_is_written_with_its_record_or_not_at_all(republish, example):
    (example / "sheet/person.html").mkdir(parents=True)
    code, _, (message,) = republish("person", "members.yaml", "--out", "sheet", "--identifier", "one.txt")
    assert (code, "person.html" in message) == (2, True)
    assert [file.name for file in (example / "sheet").iterdir()] == ["person.html"]


@pytest.mark.parametrize(
    "command", ["person members.yaml --out sheet --identifier", "forget members.yaml --identifiers"]
)
def test_a_list_in_another_encoding_is_named_with_its_line(republish, example, command):
    code, out, (message,) = republish(*command.split(), "latin.txt")
    assert (code, out) == (2, [])
    assert "latin.txt: line 2 is no text in UTF-8" in message
    assert "ller" not in message
    assert not (example / "sheet").exists()


def test_a_mark_of_byte_order_is_no_part_of_the_first_identifier(republish, example):
    (example / "one.txt").write_bytes(b"\xef\xbb\xbf0017\n")
    _, out, _ = republish("person", "members.yaml", "--out", "sheet", "--identifier", "one.txt")
    assert "in 2 of 2 releases" in out[0]
