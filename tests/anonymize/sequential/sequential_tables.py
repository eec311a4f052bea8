"""Tables and contracts of views, short to write in tests."""

import polars as pl

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.contract import ViewContract
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract
from republish.anonymize.promise.attacked import attack
from republish.anonymize.sequential import SEQUENTIAL
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
    product = {**CLINIC, "product": "views"}
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


def attack_view(candidate, rows, contract, *, previous=(), views=()):
    """What the attack on a view found, with what other products and the series released before."""
    known = {f"previous_{i}": one for i, one in enumerate(previous)}
    for number, view in enumerate(views, start=1):
        ours = view.rename({name: f"column_{i}" for i, name in enumerate(view.columns)})
        known[f"view_{number}"] = ours.group_by(pl.all()).len("records").cast({"records": pl.Int64})
    promise = SEQUENTIAL.promise(contract.principle)
    return attack(
        contract.table_schema,
        SEQUENTIAL.format(contract),
        candidate.published,
        rows.rename({"pseudonym": "person"}).with_columns(identifier=pl.col("person").bin.encode("hex")),
        [promise] * (len(views) + 1),
        Knowledge(releases=known),
        linkage=candidate.linkage.rename({"pseudonym": "person"}),
    )
