"""The sheet for a person who asks what is held of them: a page for A4; and the same as JSON."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path

import jinja2

from anonymize.contract import Product
from orchestration.rights.find import Person
from orchestration.storage.store import write_json, write_text

SHEET, RECORD = "person.html", "person.json"


def write_sheet(folder: Path, person: Person, contract: Product, date: str) -> None:
    """Write the sheet and the record into a folder, for the publisher alone.

    Parameters
    ----------
    folder
        Made if it isn't there.
    person
        What was found.
    contract
        Whose product it is: its title and contact stand on the sheet.
    date
        The day of the answer.
    """
    write_text(folder / SHEET, sheet(person, contract, date))
    write_json(folder / RECORD, {"date": date, **person.as_json()})


def sheet(person: Person, contract: Product, date: str) -> str:
    """The page, as HTML that stands alone."""
    return _template().render(person=person, contract=contract, date=date)


@functools.cache
def _template() -> jinja2.Template:
    source = resources.files("orchestration.rights").joinpath("sheet.html.j2").read_text(encoding="utf-8")
    page: jinja2.Template = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(source)
    return page
