"""A verdict as the UI shows it on its check: in words, as a list of what is broken, as a table."""

from __future__ import annotations

from typing import Any

import dagster as dg

from republish.orchestration.dagster.figures import legible
from republish.orchestration.expectations import Verdict
from republish.orchestration.written import plain

NAMES = {
    "disjoint": "earlier signatures that share no value with today's",
    "overlapping": "earlier signatures that share some values with today's",
    "remembered": "earlier signatures",
    "same": "earlier signatures that are the same today",
    "share": "largest share of a value in a group",
    "smallest promised": "smallest share that is promised to a group",
    "too large": "groups that break it",
    "too narrow": "groups that break it",
    "newcomers": "people with a new signature",
    "fewest values promised with newcomers": "values promised in a group with anybody new",
    "fewest values with newcomers": "values in a group with anybody new (fewest)",
    "smallest people": "people in a group (fewest)",
    "links": "links of people with values",
    "largest": "largest probability",
    "above": "links above what was promised",
    "safe": "weight that a cut has to exceed",
    "smallest cut": "smallest weight of a cut",
    "uneven": "people beyond whole groups",
    "people": "people compared",
    "uncovered": "not covered",
    "covered twice": "covered twice",
    "hosted": "people in groups",
    "rows": "published rows",
    "wrong counts": "groups with other counts",
    "held back": "people held back",
    "groups": "groups",
    "narrower": "intervals that are too narrow",
    "off grid": "ends within a cell of the least width",
    "values": "combinations of the columns X",
    "view unmatched": "records of the view that match none",
    "earlier unmatched": "earlier records that match none",
    "broken": "records that break it",
    "undecided": "records that could not be joined",
    "records": "people's records",
    "published": "published rows",
    "differing": "published rows that differ",
    "releases_before": "releases before",
}
"""What the UI calls a figure of a check; others have the words of their evidence."""
COLUMNS = {
    "wrong_type": "of a wrong type",
    "outside_domain": "outside the domain",
    "mean_width": "mean width",
    "min_width": "least width allowed",
    "narrower": "too narrow",
    "off_grid": "ends within a cell of the least width",
    "uncovered": "not covered",
    "people": "looked at",
    "required": "promised",
    "since": "promised since release",
    "holds": "kept",
}
"""What the UI calls a column of a check's evidence."""
ANSWERS = {True: "yes", False: "no"}
TINY = 1e-6
"""Numbers that Dagster would show with a power of ten."""


def words_of(verdict: Verdict) -> str | None:
    """The promise and the finding; for a check that failed, a line on each thing that is broken."""
    broken = [f"- {one}" for one in verdict.broken]
    return "\n".join([*([verdict.found] if verdict.found else []), *broken]) or None


def metadata_of(verdict: Verdict) -> dict[str, Any]:
    """The figures, what is broken, and the evidence, as far as it has names."""
    shown: dict[str, Any] = {
        NAMES.get(name, name): legible(figure) for name, figure in verdict.figures.items()
    }
    if verdict.broken:
        shown["broken promises"] = dg.MetadataValue.md("\n".join(f"- {one}" for one in verdict.broken))
    if verdict.table:
        rows = [{COLUMNS.get(name, name): _entry(one) for name, one in row.items()} for row in verdict.table]
        shown["evidence"] = dg.MetadataValue.table([dg.TableRecord(row) for row in rows])
    return shown


def _entry(entry: Any) -> Any:
    if isinstance(entry, bool):
        return ANSWERS[entry]
    is_tiny = isinstance(entry, float) and 0 < abs(entry) < TINY
    return plain(entry) if is_tiny else legible(entry)
