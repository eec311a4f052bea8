"""No figure, order or choice rests on a library's hash or sample, which its next version may make otherwise.

Two auditors of one folder have the same figures, whatever they have installed. `plain_hashes`,
`content_numbers`, `numbers_drawn` and `rows_drawn` are the same for ever.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ACCEPTED = {
    "anonymize/attack/numbers.py": "slots of one process, of which no order depends",
    "anonymize/attack/input.py": "reads states of versions below 0.5, which had polars' hashes",
    "anonymize/attack/stays.py": "as above",
    "orchestration/audit/by_shard.py": "parts of the people, all of which are counted together",
}
METHODS = {"hash", "hash_rows", "sample", "shuffle"}
IN_ORDER = {"list", "tuple", "enumerate", "iter", "next", "zip", "map"}


def is_set(node):
    """Whether a node is a set that stands there, whose order is another in every process."""
    is_made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "set"
    return is_made or isinstance(node, ast.Set | ast.SetComp)


def is_found(node):
    """Whether a node takes a library's hash or sample, or any of several rows, or the order of a set."""
    if isinstance(node, ast.For | ast.comprehension):
        return is_set(node.iter)
    if not isinstance(node, ast.Call):
        return False
    name = node.func
    if isinstance(name, ast.Name):
        return name.id == "hash" or (name.id in IN_ORDER and any(map(is_set, node.args)))
    if not isinstance(name, ast.Attribute):
        return False
    given = {one.arg for one in node.keywords}
    is_any = name.attr == "unique" and (node.args or "subset" in given)
    is_any_row = is_any and not {"keep", "maintain_order"} & given
    is_of_numpy = ast.unparse(name.value) in ("np", "mx")
    is_unseeded = ast.unparse(name) == "np.random.default_rng" and not node.args
    return name.attr in METHODS or (is_any_row and not is_of_numpy) or is_unseeded


def found_in(code):
    """The lines of code where an answer may depend on a library's version, or on chance."""
    tree = ast.parse(code)
    return [ast.unparse(node.iter if isinstance(node, ast.comprehension) else node)
            for node in ast.walk(tree) if is_found(node)]  # fmt: skip


def test_nothing_depends_on_a_library_s_hash_or_sample():
    files = [file for room in ("anonymize", "orchestration") for file in (ROOT / room).rglob("*.py")]
    found = {str(file.relative_to(ROOT)): found_in(file.read_text()) for file in files}
    assert {file: lines for file, lines in found.items() if lines and file not in ACCEPTED} == {}
    assert all(found[file] for file in ACCEPTED)


@pytest.mark.parametrize(
    ("code", "is_one"),
    [
        ("pl.col('person').hash(0)", True),
        ("hash(name)", True),
        ("table.sample(3, seed=0)", True),
        ("table.unique('group_id')", True),
        ("table.unique(subset=['group_id'])", True),
        ("list(set(names))", True),
        ("for name in {one.name for one in columns}: print(name)", True),
        ("[name for name in set(names)]", True),
        ("np.random.default_rng(0).integers(9)", False),
        ("np.random.default_rng()", True),
        ("np.random.default_rng(seed).random(9)", False),
        ("table.unique('group_id', keep='first').unique()", False),
        ("sorted(set(names)), np.unique(codes)", False),
    ],
)
def test_what_depends_on_a_version_is_found(code, is_one):
    assert bool(found_in(code)) == is_one
