"""The SQL statements of `sql/`, one per file."""

from __future__ import annotations

from importlib import resources


def statement(name: str) -> str:
    """The statement in `sql/<name>.sql`, without its semicolon."""
    return resources.files("republish.sql").joinpath(f"{name}.sql").read_text().strip().removesuffix(";")
