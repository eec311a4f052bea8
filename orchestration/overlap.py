"""How many people two publishers have in common, found without either showing its people.

Each writes a sketch: the smallest keyed digests of a table's people, under a secret that both publishers
share. So people are drawn at random, and both publishers draw the same ones.

References
----------
Bar-Yossef and others, Counting distinct elements in a data stream, RANDOM 2002 (k minimum values).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path

import polars as pl

from republish.anonymize.columns import exactly
from republish.anonymize.errors import SketchError
from republish.anonymize.people.pseudonyms import DIGEST_BYTES, pseudonyms
from republish.anonymize.people.randomness import derive_key
from republish.anonymize.spelling import identifier_forms
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.storage.store import read_json, write_json

FORMAT = "republish sketch 1"
SHORTEST = 32
"""Letters of a secret."""
Z = 1.96
"""Standard errors on each side of an interval that 95 % of the truths are in."""


@dataclass(frozen=True)
class Sketch:
    """A table's people, as far as another publisher may see them. Its fields are those of the file."""

    by: Sequence[str]
    """The names that both publishers call the columns by."""
    people: int
    check: str
    """What tells secrets apart, and from which no secret can be told."""
    digests: Sequence[str]
    """The smallest ones, in their order."""

    @property
    def is_whole(self) -> bool:
        """Whether it has everybody."""
        return len(self.digests) == self.people


@dataclass(frozen=True)
class Overlap:
    """How many people are in two tables."""

    people: int
    low: int
    high: int
    """The interval that the truth is in, for 95 % of all secrets."""
    drawn: int | None
    """People whom it was estimated from; None if everybody was compared, and the number is exact."""


def sketch_of(tables: Iterable[Path], by: Sequence[str], secret: Path, keep: int) -> tuple[Sketch, int]:
    """The sketch of all people of some tables, and the number of rows that are left out.

    Parameters
    ----------
    tables
        CSV and Parquet files.
    by
        The columns that tell people apart, each as `name`, or as `name=what both publishers call it`. The
        normal form of their entries counts. Rows without one of them are left out.
    secret
        A file that the two publishers have, and nobody else.
    keep
        So many digests at most are in it.

    Raises
    ------
    SketchError
        If the secret is too short, a table has no such column, or nobody is in the tables.
    """
    columns = dict(sorted((common or own, own) for own, _, common in (one.partition("=") for one in by)))
    if len(columns) < len(by) or "" in columns:
        raise SketchError("--by: name each column once, as NAME or as NAME=WHAT BOTH CALL IT")
    letters = read_secret(secret)
    key = derive_key(letters, "people of a sketch", *columns)
    parts, left_out = [], 0
    for file in tables:
        forms = _forms(file, columns)
        written = forms.filter(pl.all_horizontal(pl.all().fill_null("") != ""))
        left_out += forms.height - written.height
        texts = [pl.format("{}:{}", exactly(name).str.len_bytes(), exactly(name)) for name in columns]
        entries = written.select(pl.concat_str(texts).alias("entry").unique())["entry"]
        parts.append(pseudonyms(entries, key))
    digests = pl.concat(parts).unique().sort()
    if digests.is_empty():
        raise SketchError(f"nobody is in the tables: all rows, {left_out:,}, lack an entry of --by")
    smallest = digests.head(keep).bin.encode("hex").to_list()
    return Sketch(list(columns), digests.len(), _check(letters), smallest), left_out


def _forms(file: Path, columns: dict[str, str]) -> pl.DataFrame:
    """The normal forms of the columns, under the names that both publishers call them by."""
    if not file.is_file():
        raise SketchError(f"{file}: there is no such file. Name a table, .parquet or .csv")
    table, present = read_file(file, str(file), list(columns.values()))
    if missing := [own for own in columns.values() if own not in present]:
        raise SketchError(f"{file}: has no column {', '.join(missing)}; it has {', '.join(present)}")
    return pl.DataFrame([identifier_forms(table[own]).alias(common) for common, own in columns.items()])


def read_secret(file: Path) -> bytes:
    """The secret in a file, without spaces and ends of lines around it.

    Raises SketchError if there is none, or it could be guessed.
    """
    way_out = f"Write one (openssl rand -hex 32 > {file}), and give it to the other publisher alone"
    if not file.is_file():
        raise SketchError(f"{file}: there is no such file. {way_out}")
    secret = file.read_bytes().strip()
    if len(secret) < SHORTEST:
        raise SketchError(f"{file}: a secret of fewer than {SHORTEST} letters may be guessed. {way_out}")
    return secret


def _check(secret: bytes) -> str:
    return derive_key(secret, "check of a sketch").hex()[:16]


def write_sketch(file: Path, sketch: Sketch) -> None:
    """Write a sketch, for its owner alone. Raises SketchError if there is a file of that name."""
    if file.exists():
        raise SketchError(f"{file}: is there already; name a new file")
    write_json(file, {"format": FORMAT, **vars(sketch)})


def read_sketch(file: Path) -> Sketch:
    """A sketch that somebody wrote. Raises SketchError if it is none."""
    said = read_json(file) or {}
    names = list(Sketch.__dataclass_fields__)
    if said.get("format") == FORMAT and said.keys() == {"format", *names}:
        by, people, check, digests = (said[name] for name in names)
        if (
            _are_texts(by)
            and _are_texts(digests)
            and isinstance(check, str)
            and type(people) is int
            and 0 < len(digests) <= people
            and all(len(one) == 2 * DIGEST_BYTES for one in digests)
            and all(one < after for one, after in pairwise(digests))
        ):
            return Sketch(by, people, check, digests)
    raise SketchError(f"{file}: is no sketch, or a part of one. Write it with republish sketch")


def _are_texts(entries: object) -> bool:
    return isinstance(entries, list) and all(isinstance(one, str) for one in entries)


def overlap(files: tuple[Path, Path]) -> tuple[Overlap, tuple[Sketch, Sketch]]:
    """How many people are in both of two sketches, and the sketches.

    Raises
    ------
    SketchError
        If they are one file, or of two secrets, or by other columns.
    """
    if files[0].exists() and files[1].exists() and files[0].samefile(files[1]):
        raise SketchError(f"{files[0]}: is given twice. Give your own sketch and the other publisher's")
    one, other = read_sketch(files[0]), read_sketch(files[1])
    if list(one.by) != list(other.by):
        raise SketchError(
            f"{files[0]} is by {', '.join(one.by)}, and {files[1]} by {', '.join(other.by)}: write both by"
            " the same columns. A column with two names is given as --by NAME=WHAT BOTH CALL IT"
        )
    if one.check != other.check:
        raise SketchError(
            f"{files[0]} and {files[1]} have different secrets: write both with the same file of --secret"
        )
    return estimate(one, other), (one, other)


def estimate(one: Sketch, other: Sketch) -> Overlap:
    """How many people are in both; exact where both have everybody.

    Up to the smaller of their largest digests, both have everybody: these are people drawn at random from all
    of the two tables. Of all people, a share J is in both, and so J / (1 + J) of the two tables' rows. The
    interval is Wilson's of J.
    """
    ends = [sketch.digests[-1] for sketch in (one, other) if not sketch.is_whole]
    last = min(ends, default="g")  # after each hexadecimal digit
    first, second = ({digest for digest in sketch.digests if digest <= last} for sketch in (one, other))
    common, drawn = len(first & second), len(first | second)
    if not ends:
        return Overlap(common, common, common, None)
    share = common / drawn
    middle, half = share + Z**2 / (2 * drawn), Z * sqrt(share * (1 - share) / drawn + (Z / (2 * drawn)) ** 2)
    low, high = ((middle + side) / (1 + Z**2 / drawn) for side in (-half, half))

    def people(share: float) -> int:
        found = round(share / (1 + share) * (one.people + other.people))
        return max(common, min(found, one.people, other.people))

    return Overlap(people(share), people(low), people(high), drawn)
