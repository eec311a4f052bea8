"""How much code, tests and pages there are.

Lines of code are those that have more than a comment or a docstring. Words of pages are those of README,
`docs/` and the other pages of the project, without `docs/measured/` and the changelog. A private name of
Dagster is one of `dagster._core`. Each column is a commit of this repository.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tarfile
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.tables import Table, main

ROOT = Path(__file__).parents[2]
ROOMS = ("anonymize", "orchestration", "sql", "tests", "benchmarks")
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
QUICK = {"commits": ("HEAD",)}


def tables(commits: tuple[str, ...] = ("94902f9", "HEAD")) -> Iterator[Table]:
    """Count what is in each commit."""
    counted = [_files(one) for one in commits]
    names = [_git("log", "-1", "--format=%h, %cs", one).strip() for one in commits]
    found = [_counts(files) for files in counted]
    yield Table("Weight", ("what", *names), [(what, *(one[what] for one in found)) for what in found[0]])
    parts = [_lines(files, depth=2) for files in counted]
    rooms = sorted({room for one in parts for room in one if room.startswith(ROOMS[:2])})
    rows = [(room, *(one.get(room) for one in parts)) for room in rooms]
    yield Table("Lines by room", ("room", *names), rows)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _files(commit: str) -> dict[str, str]:
    """The texts that somebody wrote."""
    words = ["git", "archive", "--format=tar", commit]
    archive = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        return {
            one.name: files.extractfile(one).read().decode()  # type: ignore[union-attr]
            for one in files
            if one.isfile() and one.name.endswith((".py", ".sql", ".j2", ".md"))
        }


def _counts(files: Mapping[str, str]) -> dict[str, int]:
    code = {name: text for name, text in files.items() if name.endswith(".py")}
    of_product = {name: text for name, text in code.items() if name.startswith(ROOMS[:2])}
    trees = [ast.parse(text) for text in of_product.values()]
    pages = {
        name: len(text.split())
        for name, text in files.items()
        if name.endswith(".md") and not name.startswith(("docs/measured/", "CHANGELOG"))
    }
    tests = [text for name, text in code.items() if name.startswith("tests/")]
    lines = _lines(files)
    return {
        **{f"lines of {room}/": lines[room] for room in ROOMS},
        "lines of code in anonymize/ and orchestration/": sum(map(_code_lines, of_product.values())),
        "their modules": len(of_product),
        "their classes": sum(isinstance(node, ast.ClassDef) for tree in trees for node in ast.walk(tree)),
        "their functions": sum(
            isinstance(node, ast.FunctionDef) for tree in trees for node in ast.walk(tree)
        ),
        "private names of Dagster": sum(text.count("dagster._core") for text in of_product.values()),
        "test functions": sum(len(re.findall(r"^ *def test_", text, re.MULTILINE)) for text in tests),
        "words of pages": sum(pages.values()),
        "words of the longest page": max(pages.values()),
    }


def _lines(files: Mapping[str, str], depth: int = 1) -> dict[str, int]:
    """The lines by folder, so many levels deep."""
    found: dict[str, int] = {}
    for name, text in files.items():
        if name.startswith(ROOMS) and not name.endswith(".md"):
            room = "/".join(name.split("/")[:-1][:depth])
            found[room] = found.get(room, 0) + text.count("\n")
    return found


def _code_lines(text: str) -> int:
    words = [
        word for word in tokenize.generate_tokens(io.StringIO(text).readline) if word.type not in NO_CODE
    ]
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return len({line for word in words for line in range(word.start[0], word.end[0] + 1)} - docstrings)


if __name__ == "__main__":
    main(tables)
