"""Which part of the code may know of which: imports go downward, and a principle is a folder and one line."""

import ast
import importlib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from republish.anonymize.late import on_first_call
from republish.anonymize.principles import PRINCIPLES

ROOT = Path(__file__).resolve().parents[1]
ANONYMIZE = ROOT / "anonymize"

LEAVES = {"arrays", "columns", "errors", "figures", "late", "plot", "spelling", "text", "threads"}
"""Parts that import nothing of anonymize."""
BELOW_A_PRINCIPLE = {
    *("arrays", "buckets", "columns", "contract", "errors", "formats", "kernels", "late", "people", "plot"),
    *("figures", "principle", "promise", "rounding", "threads"),
}
MAY_IMPORT = {
    "rounding": {"arrays"},
    "kernels": {"arrays", "late", "rounding"},
    **{leaf: set() for leaf in LEAVES},
    "contract": {"columns", "errors", "figures", "spelling"},
    "people": {"arrays", "columns", "contract", "errors", "kernels", "spelling"},
    "formats": {"arrays", "columns", "contract", "errors", "people", "plot", "text"},
    "principle": {"arrays", "contract", "figures", "formats", "plot", "promise"},
    "buckets": {
        *("arrays", "columns", "contract", "errors", "figures", "late", "people", "principle", "promise"),
        *("rounding",),
    },
    # The judges see what is published and the truth. They share nothing with the code that makes releases.
    "attack": {
        *("arrays", "columns", "contract", "errors", "figures", "formats", "kernels", "late", "learning"),
        *("people", "rounding"),
    },
    # What can be learned from groups is the same for adversaries and for researchers.
    "learning": {"arrays", "contract", "formats", "kernels", "late", "people", "threads"},
    "promise": {"attack", "figures", "formats", "late", "text"},
    "baseline": {"arrays", "contract", "formats", "kernels", "people"},
    "utility": {"arrays", "columns", "contract", "errors", "formats", "kernels", "people", "plot"},
    **dict.fromkeys(PRINCIPLES, BELOW_A_PRINCIPLE),
    "principles": {"contract", "errors", "principle", *PRINCIPLES},
}
"""What each part of anonymize may import of anonymize, beside itself."""

NAMES_A_PRINCIPLE = {
    "anonymize/principles.py": "the list of the principles there are",
    "anonymize/streamliner/parameters.py": "its parameter `then` names the principle of later releases",
    "anonymize/streamliner/release.py": "its refusal of a second release says how a series would go on",
    "data_contracts/hospital.yaml": "the contract of the example chooses a principle",
}
"""The files outside the principles' own folders that contain a principle's name, and why."""


def modules(folder):
    return sorted(path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


def imports(source):
    """All that a module imports, wherever in it or at a first call, without `republish.`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == on_first_call.__name__:
            found.add(".".join(ast.literal_eval(argument) for argument in node.args))
    return {name.removeprefix("republish.") for name in found}


def part_of(path):
    """The part of anonymize that a module belongs to: a folder, or a module of its own."""
    return path.relative_to(ANONYMIZE).parts[0].removesuffix(".py")


@pytest.fixture(scope="module")
def imported():
    """What each module of the product imports, by its path; they are read once for all tests."""
    return {
        path: imports(path.read_text())
        for folder in ("anonymize", "orchestration", "sql")
        for path in modules(folder)
    }


def parts_of(names):
    """The parts of anonymize among what a module imports."""
    return {name.split(".")[1] for name in names if name.startswith("anonymize.")}


def inside(imported, folder):
    """The modules in a folder, and what they import."""
    return ((path, names) for path, names in imported.items() if path.is_relative_to(ROOT / folder))


def test_an_import_is_found_wherever_and_however_it_is_written():
    source = "import a.b\nfrom c import d, e as f\ndef g():\n    from h.i import j\n    from . import k\n"
    assert imports(source) == {"a.b", "c.d", "c.e", "h.i.j", "..k"}


def test_an_import_at_the_first_call_is_found_too():
    assert imports('Principle(release=on_first_call("a.b.release", "release"))') == {"a.b.release.release"}
    with pytest.raises(ValueError, match="malformed"):  # what is not written out can't be checked
        imports("on_first_call(module, name)")


@pytest.mark.parametrize("principle", sorted(PRINCIPLES))
def test_what_a_principle_imports_at_the_first_call_is_there(principle):
    """A name that is wrong would be found by the first release only."""
    named = imports((ANONYMIZE / principle / "principle.py").read_text())
    for module, name in (one.rsplit(".", 1) for one in named if one.startswith(f"anonymize.{principle}.")):
        assert getattr(importlib.import_module(f"republish.{module}"), name)


def test_no_import_is_relative_or_of_everything(imported):
    for path, names in imported.items():
        assert not [name for name in names if name.startswith(".") or name.endswith("*")], path


def test_every_part_of_anonymize_has_a_place_and_no_place_is_in_a_circle():
    parts = {part_of(path) for path in modules("anonymize")} - {"__init__"}
    assert parts <= MAY_IMPORT.keys()
    tuple(TopologicalSorter(MAY_IMPORT).static_order())  # raises CycleError


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_a_part_of_anonymize_imports_only_what_is_below_it(part, imported):
    upward = {
        str(path.relative_to(ROOT)): above
        for path, names in inside(imported, "anonymize")
        if part_of(path) == part and (above := parts_of(names) - MAY_IMPORT[part] - {part})
    }
    assert upward == {}


@pytest.mark.parametrize("judge", ["attack", "promise", "utility"])
def test_what_judges_a_release_may_import_nothing_that_makes_one(judge, imported):
    below, found = {judge}, set()
    while found != below:
        found = set(below)
        below |= {other for part in found for other in MAY_IMPORT[part]}
    assert not below & {"buckets", "principle", "principles", *PRINCIPLES}
    shared = {name for _, names in inside(imported, f"anonymize/{judge}") for name in names}
    of_people = {name.split(".")[2] for name in shared if name.startswith("anonymize.people.")}
    assert of_people <= {"codes", "persons"}  # and nothing of pseudonyms, ranks or randomness


def test_a_principle_may_not_import_another_principle_or_an_attack():
    for name in PRINCIPLES:
        assert not MAY_IMPORT[name] & {"attack", "utility", "principles", *PRINCIPLES}


def test_anonymize_knows_nothing_of_what_runs_it(imported):
    outside = {
        "orchestration",
        "sql",
        "benchmarks",
        "tests",
        "dagster",
        "duckdb",
        "great_expectations",
        "typer",
    }
    for path, names in inside(imported, "anonymize"):
        assert not {name.split(".")[0] for name in names} & outside, path


def test_the_product_imports_no_private_module_of_dagster(imported):
    for path, names in inside(imported, "orchestration"):
        private = {name for name in names if name.startswith("dagster") and "._" in name}
        assert not private, path


def test_only_the_list_of_principles_imports_the_folder_of_a_principle(imported):
    # Benchmarks and tests measure and test one principle, and may.
    named = {
        str(path.relative_to(ROOT))
        for path, names in imported.items()
        if any(
            name.startswith(f"anonymize.{principle}")
            for name in names
            for principle in PRINCIPLES.keys() - set(path.relative_to(ROOT).parts)
        )
    }
    assert named == {"anonymize/principles.py"}


def said(path):
    """A file's text; of a module its code without docstrings and comments, which may explain."""
    if path.suffix != ".py":
        return path.read_text()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [part for part in node.body if not is_docstring(part)] or [ast.Pass()]
    return ast.unparse(tree)


def is_docstring(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def test_nothing_else_says_the_name_of_a_principle():
    files = (
        path
        for folder in ("anonymize", "orchestration", "sql", "data_contracts")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    naming = set()
    for path in files:
        elsewhere = PRINCIPLES.keys() - set(path.relative_to(ROOT).parts)
        others = {name for name in elsewhere if name in path.read_text().lower()}
        text = said(path).lower() if others else ""
        naming |= {path.relative_to(ROOT).as_posix() for name in others if name in text}
    assert naming == NAMES_A_PRINCIPLE.keys()


def test_the_folders_of_principles_are_those_that_are_listed():
    folders = {path.parent.name for path in ANONYMIZE.glob("*/parameters.py")}
    assert folders - {"contract", "buckets"} == PRINCIPLES.keys()


ASKS_OF_THE_TABLE = ("is_several", "has_several_rows", "MISSING", ".missing", 'rows == "several"')
BEHIND_THE_DOOR = ("buckets", "kernels", *PRINCIPLES)
DOORS = {
    "m_invariance/release.py": "translates a table of several columns or rows into units and combinations",
}


def test_nothing_behind_the_door_asks_of_what_kind_the_table_is():
    """Whether there are several sensitive columns, several rows, or numbers that are missing, is translated
    once, where a release begins. A contract's faults (`parameters`) name these too, to refuse them."""
    asking = {
        str(path.relative_to(ANONYMIZE))
        for folder in BEHIND_THE_DOOR
        for path in modules(f"anonymize/{folder}")
        if path.name != "parameters.py" and any(what in path.read_text() for what in ASKS_OF_THE_TABLE)
    }
    assert asking == DOORS.keys()
