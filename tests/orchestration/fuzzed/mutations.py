"""What a fuzzer does to a tree of JSON or YAML, and to a text: other types, huge numbers, deep nesting."""

import copy
import json

from hypothesis import strategies as st

LETTERS = (
    "\x00",
    "\x1b[2K\x1b[1A",
    "\n",
    "\r",
    "\u202e",
    "\ufeff",
    "\ud7ff",
    "\U0001f600",
    "e\u0301",
    "'",
    '"',
    "{{x}}",
)
SCALARS = (
    *(None, True, False, 0, -1, 1, 2, 3, 2**31, 2**53, 2**63, -(2**64), 10**400, 0.5, -0.0, 1e308, 5e-324),
    *("", " ", "all", "null", "NaN", "1", "2024-01-01", "0000-00-00", "99999-01-01", "../../x", "/dev/zero"),
    *(
        "x" * 5000,
        "{release}.csv",
        "&a",
        "*a",
        "<<",
        "!!python/object:os.system",
        "m_invariance",
        "0 0 1 * *",
    ),
    *LETTERS,
)
"""What may stand anywhere."""
NESTS = (
    lambda one: [one],
    lambda one: {"x": one},
    lambda one: [one, one],
    lambda one: [[[[one]]]],
    lambda one: {**one, "release": one} if isinstance(one, dict) else [],
    lambda _: [],
    lambda _: {},
    lambda _: list(range(300)),
    lambda one: one[::-1] if isinstance(one, list | str) else one,
    lambda one: one * 2 if isinstance(one, list | str) else one,
    lambda one: one + 1 if isinstance(one, int | float) else str(one),
    lambda one: -one if isinstance(one, int | float) else one,
)


PIECES = (
    *LETTERS,
    *("", "[" * 2000, "{a: " * 500, "- &a [*a, *a]\n", "<<: *a\n", "? ", "\t", ": ", "#", "|\n", "1" * 5000),
    *("!!binary x", "!!set {a}", "%YAML 9.9\n---\n", "...\n---\n", "\x85", "NaN", "-Infinity", "1e999"),
)
"""What may stand in the place of a piece of a text."""


def places(tree, path=()):
    """The path of everything in a tree."""
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


@st.composite
def mutated(draw, tree):
    """A tree with one to three of its parts replaced, wrapped, renamed or left out."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(tree))
        if not found:
            break
        *path, last = draw(st.sampled_from(found))
        above = tree
        for key in path:
            above = above[key]
        match draw(st.sampled_from(("replace", "nest", "leave out", "rename", "add"))):
            case "replace":
                above[last] = draw(st.sampled_from(SCALARS))
            case "nest":
                above[last] = draw(st.sampled_from(NESTS))(copy.deepcopy(above[last]))
            case "leave out":
                del above[last]
            case "rename" if isinstance(above, dict):
                above[str(draw(st.sampled_from(SCALARS)))] = above.pop(last)
            case "add" if isinstance(above, dict):
                above[draw(st.sampled_from(("further", *LETTERS)))] = draw(st.sampled_from(SCALARS))
            case _:
                above.insert(last, draw(st.sampled_from(SCALARS)))
    return tree


@st.composite
def mutated_text(draw, text):
    """A text with a piece repeated, left out or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        piece = draw(st.sampled_from((*PIECES, text[start:end] * 2)))
        text = text[:start] + piece + text[end:]
    return text


def json_text(tree):
    """JSON as another writer may have it, the names of infinite numbers included."""
    return json.dumps(tree, ensure_ascii=False)
