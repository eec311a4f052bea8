"""Run the notebook in `examples/`, and write what it prints into it and into the page that shows it.

`python -m docs.notebook` does it.
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples/from_python.ipynb"
PAGE = ROOT / "docs/how-to/from_python.md"
PLAIN: dict[str, Any] = {
    "tbl_formatting": "NOTHING",
    "tbl_hide_column_data_types": True,
    "tbl_hide_dataframe_shape": True,
}
"""How frames are printed: names and values."""
RUN = "This page is the notebook `examples/from_python.ipynb`, run in a checkout.\n\n"


def ran(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Each cell, and what its last expression is; None if it has none, or is text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(ROOT), pl.Config(tbl_width_chars=100, **PLAIN):
        for cell in notebook["cells"]:
            yield cell, _value(cell, names) if cell["cell_type"] == "code" else None


def _value(cell: dict[str, Any], names: dict[str, Any]) -> str | None:
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell["id"], "exec"), names)  # noqa: S102 - the notebook is ours
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)  # noqa: S307 - as above
    return None if value is None else repr(value)


def with_outputs(notebook: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The notebook with what it prints, and the page that shows it."""
    cells, page = [], []
    for cell, printed in ran(notebook):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cells.append(cell)
            page.append(f"{text}\n\n")
            continue
        output = [] if printed is None else [_output(printed)]
        cells.append({**cell, "outputs": output})
        page.append(f"```python\n{text}\n```\n\n")
        page += [f"```output\n{printed}\n```\n\n"] if output else []
    title, rest = page[0].split("\n\n", maxsplit=1)
    return {**notebook, "cells": cells}, f"{title}\n\n{RUN}{rest}{''.join(page[1:])}".rstrip() + "\n"


def _output(printed: str) -> dict[str, Any]:
    data = {"text/plain": printed.splitlines(keepends=True)}
    return {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}


def as_text(notebook: dict[str, Any]) -> str:
    """The file of a notebook."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    written, shown = with_outputs(json.loads(NOTEBOOK.read_text()))
    NOTEBOOK.write_text(as_text(written))
    PAGE.write_text(shown)
