"""One file with the rows of several snapshots: a panel, of which a column says when each row is from."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from republish.anonymize.columns import entries, exactly
from republish.anonymize.contract.source import write_date
from republish.orchestration.drafts.dates import first_day
from republish.orchestration.snapshots.rows_of_release import as_text

FORMS = {
    "%Y-%m-%d": r"^\d{4}-\d\d-\d\d$",
    "%Y": r"^(19|20)\d\d$",
    "%Y-%m": r"^\d{4}-\d\d$",
    "%Y%m": r"^\d{6}$",
    "%Y/%m": r"^\d{4}/\d\d$",
    "%m/%Y": r"^\d\d/\d{4}$",
    "%m.%Y": r"^\d\d\.\d{4}$",
    "%d.%m.%Y": r"^\d\d\.\d\d\.\d{4}$",
    "%G-W%V": r"^\d{4}-W\d\d$",
    "%GW%V": r"^\d{4}W\d\d$",
    "%YQ%q": r"^\d{4}Q[1-4]$",
    "%Y-Q%q": r"^\d{4}-Q[1-4]$",
    "%Y/Q%q": r"^\d{4}/Q[1-4]$",
    "%Y Q%q": r"^\d{4} Q[1-4]$",
    "Q%q %Y": r"^Q[1-4] \d{4}$",
    "Q%q/%Y": r"^Q[1-4]/\d{4}$",
    "%y": r"^\d\d$",
}
"""How a time is written, as a path has it, and the pattern of all that is written so."""
OF_YEARS = re.compile(r"year|^yr|yr$|jahr|ann[eé]e|a[nñ]o$|jaar|rok$|vuosi")
"""Names of columns, in small letters, whose two digits may be years."""
MOST, FEWEST_ROWS = 500, 10
"""Snapshots in a file, and rows of one on average."""
TWICE = 0.05
"""At most this share of the rows share their person with others of the snapshot: a player with two teams."""
CARRIED = 0.4
"""On average, at least this share of a snapshot's people are in the next one. Of visits, few are."""


@dataclass(frozen=True)
class Panel:
    """A file with the rows of several snapshots, and the column that says of which one a row is."""

    column: str
    form: str
    """How it is written, in the codes of `write_date`."""
    person: str
    """The column by which people are found again."""
    tables: dict[str, pl.DataFrame]
    """The rows by the date of their release, in order."""

    @property
    def where(self) -> dict[str, str]:
        """What a contract says of the rows of a release (`source.where`)."""
        return {self.column: f"{{release:{self.form}}}"}


def panel_of(table: pl.DataFrame) -> Panel | None:
    """The snapshots in a table, if nearly each person has one row at most in each of several; None else."""
    flat = [
        name for name in table.columns if not table[name].dtype.is_nested() and not table[name].has_nulls()
    ]
    for column in flat:
        values = entries(table, column)
        if not 2 <= values.n_unique() <= min(MOST, table.height // FEWEST_ROWS):
            continue
        found = as_text(values.unique(maintain_order=True))
        form = next((form for form in FORMS if _is_written(found, form, column)), None)
        if form is None:
            continue
        times = as_text(values)
        persons = [name for name in flat if name != column and _are_carried(table, times, name)]
        if not persons:
            continue
        dates = {first_day(time, form).isoformat(): time for time in found}
        if len(dates) == len(found):
            tables = {date: table.filter(times == dates[date]) for date in sorted(dates)}
            return Panel(column, form, max(persons, key=lambda name: table[name].n_unique()), tables)
    return None


def _is_written(times: pl.Series, form: str, column: str) -> bool:
    if form == "%y" and OF_YEARS.search(column.lower()) is None:
        return False
    if not times.str.contains(FORMS[form]).all():
        return False
    try:
        return all(write_date(first_day(time, form), form) == time for time in times)
    except ValueError:
        return False


def _are_carried(table: pl.DataFrame, times: pl.Series, name: str) -> bool:
    """Whether a column has its values once in a snapshot, nearly all, and many of them in the next one."""
    rows = table.select(who=exactly(name)).with_columns(at=times.rank("dense"))
    people = rows["who"].n_unique()
    if people == rows.height or people <= rows["at"].n_unique():
        return False
    if rows.is_duplicated().mean() > TWICE:  # type: ignore[operator]
        return False
    again = rows.join(rows.with_columns(pl.col("at") + 1), on=["who", "at"], how="semi").height
    before = rows.filter(pl.col("at") < pl.col("at").max()).height
    return again >= CARRIED * before
