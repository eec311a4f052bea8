"""The pages' snippets: what stands in `sh` blocks is run, as a reader would who follows the page.

What stands in a `text` block after them was printed (`…` is anything). A block that needs a service or root
is marked `console`, and is not run. A how-to page about the tutorial's clinic goes on where that ended.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from republish.anonymize.contract import Contract
from republish.anonymize.learning import associations
from republish.anonymize.principles import parse_contract
from republish.orchestration.contracts.yaml_text import parse_yaml

pytestmark = pytest.mark.slow("starts processes")

DOCS = Path(__file__).parents[3] / "docs"
TUTORIAL = DOCS / "tutorial/first_series.md"
HOW_TO = sorted(DOCS.glob("how-to/*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = {"audit": {0, 3}, "validate": {0, 2, 3}}
"""Exit codes: an example may be found broken, be refused, or lack the snapshot of a later release."""


def blocks(page, *kinds):
    return [(kind, text) for kind, text in BLOCK.findall(page.read_text()) if kind in kinds]


def steps(script):
    """A script as commands of republish, each by itself, and what is for the shell between them."""
    for is_ours, lines in _runs(script):
        yield from ((True, line) for line in lines) if is_ours else ((False, "\n".join(lines)),)


def _runs(script):
    runs = []
    for line in script.replace("\\\n", "").splitlines():
        is_ours = line.startswith("republish ")
        if not runs or runs[-1][0] != is_ours:
            runs.append((is_ours, []))
        runs[-1][1].append(line)
    return runs


def follow(page, republish, folder):
    """Run a page's blocks, one after the other."""
    printed = []
    for kind, text in blocks(page, "sh", "text"):
        if kind == "text":
            for line in filter(None, text.splitlines()):
                said = re.compile(re.escape(line.rstrip()).replace("…", ".*"))
                assert any(said.fullmatch(one.rstrip()) for one in printed), "\n".join([line, *printed])
            continue
        printed = []
        for is_ours, step in steps(text):
            if is_ours:
                words = shlex.split(step, comments=True)[1:]
                code, out, err = republish(*words)
                assert code in EXPECTED.get(words[0], {0}), (step, code, err)
                printed += out
            else:
                shell = subprocess.run(["bash", "-ec", step], cwd=folder, check=True, capture_output=True)
                printed += shell.stdout.decode().splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the tutorial's reader."""
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture
def clinic(republish, folder, monkeypatch):
    """What the tutorial leaves there, made once."""
    monkeypatch.chdir(folder)
    if not (folder / "clinic").exists():
        follow(TUTORIAL, republish, folder)
        monkeypatch.delenv("REPUBLISH_HOME", raising=False)  # a release in this process sets it
    return folder


def test_the_tutorial_runs_as_printed(clinic):
    assert (clinic / "report/audit.html").exists()


@pytest.mark.parametrize("page", [page for page in HOW_TO if blocks(page, "sh")], ids=lambda page: page.stem)
def test_a_how_to_page_runs(page, republish, clinic, tmp_path, monkeypatch):
    if any("clinic" in text for _, text in blocks(page, "sh")):
        shutil.copytree(clinic, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(associations, "APART", 16)  # fewer simulated releases, which say the same of a clinic
    monkeypatch.setattr(associations, "NEAR", (2, 3))
    follow(page, republish, tmp_path)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_demo_of_visits_does_what_the_page_has_somebody_do():
    root = DOCS.parent
    told = subprocess.run(
        ["make", "--dry-run", "demo", "SAMPLE=visits"], cwd=root, check=True, capture_output=True, text=True
    )
    (command,) = (line.partition(" > ")[0] for line in told.stdout.splitlines() if line.startswith("sed "))
    steps = subprocess.run(["bash", "-c", command], cwd=root, check=True, capture_output=True, text=True)
    assert steps.stdout == "".join(text for _, text in blocks(DOCS / "how-to/several_rows.md", "sh"))
    assert "republish audit" in steps.stdout


def snippets():
    for page in [TUTORIAL, *HOW_TO, *sorted(DOCS.glob("explanation/*.md"))]:
        for at, (_, text) in enumerate(blocks(page, "yaml")):
            yield pytest.param(text, id=f"{page.stem}-{at}")


@pytest.mark.parametrize("text", list(snippets()))
def test_a_snippet_of_a_contract_is_accepted(text):
    """Keys of a contract are read with what the tutorial's contract says of all others."""
    declared, faults = parse_yaml(text.encode(), "snippet")
    assert not faults
    ((_, contract),) = blocks(TUTORIAL, "yaml")
    lines = contract.replace(", min_width: 2", "").replace("m: 2", "m: 3")
    lines = lines.replace("{name: diagnosis}", "{name: diagnosis, values: [a, b, c, d, e, f, g, h, i, j]}")
    whole, _ = parse_yaml(lines.encode(), "clinic.yaml")
    if set(declared) <= set(Contract.model_fields):
        paths = [[leaf, group, "any"] for group in "ABC" for leaf in (f"{group}1", f"{group}2")]
        assert parse_contract(whole | declared, context={"read_hierarchy": lambda _: paths})
