"""Tables and contracts of views, short to write in tests."""

import polars as pl

from anonymize.contract import ViewContract
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from tests.clinic import CLINIC

JOBS = [
    ["Banker", "Professional", "ANY"],
    ["Clerk", "Professional", "ANY"],
    ["Engineer", "Professional", "ANY"],
    ["Driver", "Worker", "ANY"],
]
NAMES = [["Alice", "A-B", "ANY"], ["Bob", "A-B", "ANY"], ["Cathy", "C-D", "ANY"]]


def view_contract(columns, identifier="pid", **principle) -> ViewContract:
    defaults = {"name": "sequential", "requirement": "anonymity", "k": 2}
    product = {
        **CLINIC,
        "product": "views",
    }
    declared = {"identifier": identifier, "columns": columns, "principle": {**defaults, **principle}}
    return parse_contract(product | declared)


def table(**columns) -> pl.DataFrame:
    """The columns as `column_0`, `column_1`, …, and pseudonyms where there are none."""
    return pl.DataFrame({f"column_{i}": values for i, values in enumerate(columns.values())})


def people(**columns) -> pl.DataFrame:
    frame = table(**columns)
    return frame.with_columns(
        pl.Series("pseudonym", [i.to_bytes(16) for i in range(frame.height)], dtype=pl.Binary)
    )


def state(*previous, **tables) -> State:
    return State({**{f"previous_{i}": one for i, one in enumerate(previous)}, **tables})
