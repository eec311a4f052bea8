"""People who are asked for by their identifiers, and the rows that are about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from anonymize.columns import IDENTIFIER
from anonymize.people.pseudonyms import pseudonyms
from anonymize.spelling import value_form
from orchestration.chain.snapshot import FAULTS
from orchestration.series.committed import KNOWLEDGE, STATE
from orchestration.series.persons import comparable
from orchestration.storage.home import Home
from orchestration.storage.store import read_table

BUILT_ON = (STATE, KNOWLEDGE)
"""What the names of files begin with that the next release is built on."""


class Asked:
    """Identifiers of people, and the spellings of them that were found.

    Parameters
    ----------
    identifiers
        As the source has them, or other spellings (`P7` for `p7`); bytes as hexadecimal digits.
    column
        What the identifier is called in the source.
    """

    def __init__(self, identifiers: Sequence[str], column: str):
        self.column = column
        given = pl.Series(identifiers, dtype=pl.String)
        self._forms = pl.select(value_form(pl.lit(given))).to_series().unique()
        self.spellings = given

    def within(self, identifiers: pl.Series) -> pl.Series:
        """bool[N]: which of some identifiers are asked for."""
        own = identifiers.alias("own").to_frame()
        is_bytes = identifiers.dtype == pl.Binary
        form = pl.col("own").bin.encode("hex") if is_bytes else value_form(pl.col("own").cast(pl.String))
        return own.select(form.is_in(self._forms.implode()).fill_null(value=False)).to_series()

    def spelled(self, found: pl.Series) -> None:
        """Note in which spelling a snapshot has them: pseudonyms are of that."""
        if found.dtype == pl.Binary:
            self.spellings = found if found.len() else self.spellings
        elif self.spellings.dtype != pl.Binary:
            self.spellings = pl.concat([self.spellings, found.cast(pl.String).alias("")]).unique()

    def files(self, home: Home, folder: Path, key: bytes) -> Iterator[tuple[Path, pl.Series]]:
        """The files of a series that have rows about them, and which rows: bool[N].

        Parameters
        ----------
        home, folder
            The series' private folder, in its home.
        key
            What identifiers become pseudonyms with.
        """
        pseudonym = pl.concat([pseudonyms(self.spellings, key), comparable(home, self.spellings)]).implode()
        for file in sorted(folder.rglob("*")):
            table = read_rows(file)
            if table is None:
                continue
            about = [
                self.within(table[name])
                if name in (IDENTIFIER, self.column)
                else table[name].is_in(pseudonym).fill_null(value=False)
                for name, dtype in table.schema.items()
                if name in (IDENTIFIER, self.column) or dtype == pl.Binary
            ]
            if about and (rows := pl.DataFrame(about).select(pl.any_horizontal(pl.all())).to_series()).any():
                yield file, rows


def read_rows(file: Path) -> pl.DataFrame | None:
    """The table in a working file; None where it has none."""
    if file.suffix == ".parquet":
        return read_table(file)
    return pl.read_csv(file, infer_schema=False) if file.name == FAULTS else None


def last_release(folder: Path) -> str:
    """The last release of which a series' private folder has working files; empty if there is none."""
    return max((path.name for path in folder.iterdir() if path.is_dir() and path.name[0] != "."), default="")
