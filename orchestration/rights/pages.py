"""The sheet for a person who asks, and the record of processing: pages for A4, each also as JSON."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from republish.anonymize.contract import Product
from republish.orchestration.rights.find import Person
from republish.orchestration.storage.store import json_text, write_together


def write_sheet(folder: Path, person: Person, contract: Product, date: str) -> list[Path]:
    """Write `person.html`, for the person, and `person.json`; returns both paths.

    Parameters
    ----------
    folder
        Made if it isn't there, for its owner alone.
    contract
        Whose product it is: its title and contact stand on the sheet.
    """
    page = sheet(person, contract, date)
    return _write(folder, "person", page, {"date": date, **person.as_json()})


def sheet(person: Person, contract: Product, date: str) -> str:
    """The page that `write_sheet` writes."""
    return _page("person").render(person=person, contract=contract, date=date)


def write_record(folder: Path, record: Mapping[str, Any]) -> list[Path]:
    """Write `record.html` and `record.json`, the record of processing; returns both paths."""
    return _write(folder, "record", _page("record").render(record), record)


def _write(folder: Path, name: str, page: str, content: Mapping[str, Any]) -> list[Path]:
    return write_together(folder, {f"{name}.html": page, f"{name}.json": json_text(content)})


@functools.cache
def _page(name: str) -> jinja2.Template:
    source = resources.files("republish.orchestration.rights").joinpath
    loader = jinja2.FunctionLoader(lambda file: source(file).read_text(encoding="utf-8"))
    undefined = jinja2.StrictUndefined
    environment = jinja2.Environment(
        autoescape=True, undefined=undefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    return environment.get_template(f"{name}.html.j2")
