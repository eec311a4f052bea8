"""A published release in codes: its groups, how people are spread in them, and what codes stand for."""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.columns import exactly
from republish.anonymize.contract.bins import bin_names, check_edges
from republish.anonymize.errors import PublishedFolderError, QueryError
from republish.anonymize.formats import ANATOMY, GENERALIZATION, TAXONOMY_CUTS
from republish.anonymize.formats.anatomy import QUASI_IDENTIFIERS, SENSITIVE
from republish.anonymize.formats.generalization import MICRODATA
from republish.anonymize.learning.bins import Bins
from republish.anonymize.learning.copies import PublishedGroups
from republish.anonymize.learning.forgeries import forged
from republish.anonymize.learning.intervals import Intervals
from republish.anonymize.learning.spread import intervals_of, is_widened
from republish.orchestration.limits import check
from republish.orchestration.readers.datapackage.words import sensitive_columns
from republish.orchestration.readers.estimate.attributes import Attribute
from republish.orchestration.readers.estimate.names import column_names
from republish.orchestration.storage.manifest import DATA_PACKAGE
from republish.orchestration.storage.parts import SUFFIX, scan_parts, table_files

COUNTERFEITS = "counterfeits"
BY_RANK = "gda"
"""The method of whose first release people of a group have about the same weighted rank."""
GROUP = "group_id"
Kind = Callable[[pl.DataType], bool]
"""Whether a column may have this type."""
Decoder = Callable[[Ints], pl.Series]
"""Gives what codes of an attribute stand for; -1 is a missing value."""


@dataclass(frozen=True)
class CodedRelease:
    """A published release in codes, and what these stand for."""

    date: dt.date
    groups: PublishedGroups
    """The groups that have people."""
    counts: tuple[int, int, int]
    """Its groups, tuples and counterfeits, as its manifest states them."""
    names: list[str]
    """Of the quasi-identifiers, in a reader's table: see `column_names`."""
    decoders: tuple[Decoder, ...]
    """Of each quasi-identifier."""
    values: pl.DataFrame
    """What each number of a value stands for, under the names of the sensitive columns."""
    bins: Mapping[str, tuple[Bins, Ints]]
    """Of sensitive columns that are numbers in bins: the bins, and the bin of each number of a value; -1 is
    missing."""


@dataclass(frozen=True)
class _Package:
    """What a release's `datapackage.json` says of its tables."""

    folder: Path
    date: dt.date
    attributes: list[Attribute]
    names: list[str]
    """Of the quasi-identifiers, and of the sensitive columns last."""
    edges: list[Sequence[float]]
    """Of each sensitive column: the edges of its bins, or nothing."""
    is_exact: bool
    by_rank: bool

    @property
    def kinds_of_values(self) -> dict[str, Kind]:
        """Our names of the sensitive columns, which may have any type."""
        return {f"value_{at}": lambda _dtype: True for at in range(len(self.names) - len(self.attributes))}

    def file(self, table: str) -> str:
        """The name of a table's file, or the pattern of those of its parts."""
        is_whole = (self.folder / f"{table}{SUFFIX}").is_file()
        return f"{table}{SUFFIX}" if is_whole else f"{table}/part-*{SUFFIX}"

    def refused(self, table: str, why: str) -> PublishedFolderError:
        """The error that a table is not what the package says."""
        return PublishedFolderError(
            f"{self.folder}: its tables are not what {DATA_PACKAGE} says: {self.file(table)}: {why}"
        )

    @classmethod
    def of(cls, folder: Path, package: Mapping[str, Any]) -> _Package:
        file = folder / DATA_PACKAGE
        refused = PublishedFolderError(f"{file}: is not a package of republish's")
        try:
            own = package["republish"]
            check(file, "columns", len(own["attributes"]))
            for one in own["attributes"]:
                check(file, "labels", len(one.get("labels", ())))
            if own["format"] == TAXONOMY_CUTS.name:
                refuse_view(folder)
            if own["format"] not in (ANATOMY.name, GENERALIZATION.name) or not sensitive_columns(own):
                raise refused
            return cls(
                folder,
                dt.date.fromisoformat(own["release"]),
                [Attribute.of(one) for one in own["attributes"]],
                column_names(package),
                [_edges(file, one.get("bins") or ()) for one in sensitive_columns(own)],
                own["format"] == ANATOMY.name,
                own["principle"].get("method") == BY_RANK and own["n"] == 1,
            )
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            pl.exceptions.PolarsError,
        ):
            raise refused from None


def read_published(folder: Path, package: Mapping[str, Any]) -> CodedRelease:
    """Read a release into codes.

    Columns are read by their places: whatever they are called, and if two names differ in capital letters
    alone.

    Parameters
    ----------
    folder
        The release, whose files are those that its manifest states.
    package
        The content of its `datapackage.json`.

    Raises
    ------
    PublishedFolderError
        If its tables are not what the package says, or no release has such groups.
    QueryError
        If it is a view.
    """
    own = _Package.of(folder, package)
    try:
        return _of_rows(own) if own.is_exact else _of_intervals(own)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise PublishedFolderError(f"{folder}: its tables are not what {DATA_PACKAGE} says") from None


def refuse_other_figures(folder: Path, release: CodedRelease, stated: Mapping[str, Any]) -> None:
    """Raise PublishedFolderError if the tables are of another release than their manifest says."""
    counts = tuple(stated.get(name) for name in ("groups", "tuples", "counterfeits"))
    if stated["release"] != str(release.date) or counts != release.counts:
        raise _other_release(folder)


def _of_intervals(own: _Package) -> CodedRelease:
    """A release whose groups are published under intervals."""
    kinds: dict[str, Kind] = {}
    for at, one in enumerate(own.attributes):
        kinds |= {f"low_{at}": one.takes, f"high_{at}": one.takes}
        kinds |= {f"missing_{at}": _is_integer} if one.publishes_missing else {}
    table = _scanned(own, MICRODATA, {**kinds, **own.kinds_of_values})
    held, boxes = pl.collect_all(
        [
            table.group_by(GROUP, exactly(*own.kinds_of_values)).agg(tuples=pl.len().cast(pl.Int64)),
            table.select(GROUP, exactly(*kinds)).unique(),
        ]
    )
    boxes = boxes.sort(GROUP)
    found = [_Boxes.of(boxes, at, one) for at, one in enumerate(own.attributes)]
    if _has_nulls(held) or any(one.is_impossible for one in found):
        raise own.refused(
            MICRODATA, "an entry is missing, an interval ends before it begins or outside of its domain"
        )
    groups = _Groups.of(own, held)
    if boxes.height != len(groups.ids):
        raise own.refused(MICRODATA, "a group has several intervals on one attribute")
    people, is_there = groups.people[groups.people > 0], groups.people > 0
    found = [one.of_groups(is_there) for one in found]
    return groups.release(
        own,
        [functools.partial(one.attribute.values, exact=one.exact(people)) for one in found],
        intervals=tuple(one.intervals(people) for one in found),
    )


@dataclass(frozen=True)
class _Boxes:
    """The intervals of groups on an attribute, as they are published."""

    attribute: Attribute
    ends: tuple[pl.Series, pl.Series]
    codes: tuple[pl.Series, pl.Series]
    """Int64[G]: those of both ends, null where nobody's value is known."""
    missing: pl.Series
    """Int64[G]: how many people have none."""

    @classmethod
    def of(cls, boxes: pl.DataFrame, at: int, attribute: Attribute) -> _Boxes:
        low, high = boxes[f"low_{at}"], boxes[f"high_{at}"]
        none = pl.repeat(0, boxes.height, dtype=pl.Int64, eager=True)
        missing = boxes[f"missing_{at}"].cast(pl.Int64) if attribute.publishes_missing else none
        return cls(attribute, (low, high), (attribute.codes(low), attribute.codes(high)), missing)

    @property
    def is_impossible(self) -> bool:
        """Whether an end is beyond the domain or the other one, or missing though a value is known."""
        low, high = self.codes
        is_out = (low < 0) | (low > high) | (high >= self.attribute.domain.codes)
        is_blank = low.is_null() & (self.missing < 1) | (low.is_null() != high.is_null())
        is_odd = self.missing.is_null() | (self.missing < 0)
        return bool((is_out.fill_null(value=False) | is_blank.fill_null(value=True) | is_odd).any())

    def of_groups(self, is_there: Bools) -> _Boxes:
        """Those of some of the groups."""
        kept = pl.Series(is_there)
        ends, codes = ((low.filter(kept), high.filter(kept)) for low, high in (self.ends, self.codes))
        return _Boxes(self.attribute, ends, codes, self.missing.filter(kept))

    def known(self, people: Ints) -> Ints:
        """How many of each group's people have a value, int64[G]."""
        missing = np.minimum(self.missing.to_numpy(), people)
        return np.where(self.codes[0].is_null().to_numpy(), 0, np.maximum(1, people - missing))

    def intervals(self, people: Ints) -> Intervals:
        """Where people may be."""
        low, high = (codes.fill_null(0).to_numpy() for codes in self.codes)
        return intervals_of(low, high, self.known(people), people, self.attribute.domain)

    def exact(self, people: Ints) -> tuple[Ints, Floats] | None:
        """The codes of fractions that are an end, in order, and what they are; None of whole numbers.

        Of several fractions with one code, it is the lowest.
        """
        if self.attribute.unit is None:
            return None
        there = pl.Series(self.known(people) > 0)
        low, high = (codes.filter(there).to_numpy() for codes in self.codes)
        is_value = pl.Series(~is_widened(low, high, self.attribute.domain))
        codes = np.concatenate([one.filter(there).filter(is_value).to_numpy() for one in self.codes])
        ends = [one.cast(pl.Float64).filter(there).filter(is_value).to_numpy() for one in self.ends]
        numbers = np.concatenate(ends)
        order = np.lexsort((numbers, codes))
        found, first = np.unique(codes[order], return_index=True)
        return found, numbers[order][first]


def _of_rows(own: _Package) -> CodedRelease:
    """A release with exact quasi-identifiers: their codes are their places among all that are published."""
    columns = {f"column_{at}": one.takes for at, one in enumerate(own.attributes)}
    kinds = {**own.kinds_of_values, "tuples": _is_integer}
    rows, held = pl.collect_all(
        [
            _scanned(own, QUASI_IDENTIFIERS, columns)
            .select(GROUP, exactly(*columns))
            .sort(GROUP, maintain_order=True),
            _scanned(own, SENSITIVE, kinds).select(
                GROUP, exactly(*own.kinds_of_values), pl.col("tuples").cast(pl.Int64)
            ),
        ]
    )
    other = own.refused(SENSITIVE, f"a group has other counts than {own.file(QUASI_IDENTIFIERS)} has rows")
    if _has_nulls(held) or (held["tuples"] < 1).any() or held.drop("tuples").is_duplicated().any():
        raise other
    groups = _Groups.of(own, held)
    ids, sizes = np.unique(rows[GROUP].to_numpy(), return_counts=True)
    if not (np.array_equal(ids, groups.ids) and np.array_equal(sizes, groups.size)):
        raise other
    is_there = groups.people > 0
    rows = rows.filter(pl.Series(np.repeat(is_there, groups.size)))
    codes = [rows[name].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1 for name in columns]
    return groups.release(
        own,
        [functools.partial(_gathered, rows[name].drop_nulls().unique().sort()) for name in columns],
        rows=np.stack(codes, axis=1),
        group_of_row=np.repeat(np.arange(is_there.sum()), groups.size[is_there]),
    )


def _gathered(words: pl.Series, codes: Ints) -> pl.Series:
    return words.gather(pl.select(pl.when(pl.Series(codes >= 0)).then(pl.Series(codes))).to_series())


@dataclass(frozen=True)
class _Groups:
    """All groups of a release, and their values."""

    ids: Ints
    """int64[G]: their numbers, in order."""
    size: Ints
    people: Ints
    group: Ints
    """int64[H]: the place of the group of each of its values; `value` and `tuples` belong to it."""
    value: Ints
    tuples: Ints
    values: pl.DataFrame
    """What the numbers of values stand for, in their order."""

    @classmethod
    def of(cls, own: _Package, held: pl.DataFrame) -> _Groups:
        """Take the groups of entries (`group_id`, the value's columns, `tuples`); read their counterfeits."""
        columns = list(own.kinds_of_values)
        values = held.select(exactly(*columns)).unique().sort(columns)
        numbered = values.with_row_index("value").with_columns(pl.col("value").cast(pl.Int64))
        held = held.join(numbered, on=columns).sort(GROUP, "value")
        ids, group = np.unique(held[GROUP].to_numpy(), return_inverse=True)
        tuples = held["tuples"].to_numpy()
        size = np.bincount(group, tuples, len(ids)).astype(np.int64)
        return cls(
            ids, size, size - _counterfeits(own, ids, size), group, held["value"].to_numpy(), tuples, values
        )

    def release(self, own: _Package, decoders: Sequence[Decoder], **places: Any) -> CodedRelease:
        """The release, with the `places` of people: `intervals`, or `rows` and `group_of_row`."""
        is_there = self.people > 0
        place, kept = np.cumsum(is_there) - 1, is_there[self.group]
        people, size, group = self.people[is_there], self.size[is_there], place[self.group[kept]]
        value, tuples = self.value[kept], self.tuples[kept]
        kind, fakes = forged(people, size, group, value, tuples, _numbers(self.values))
        groups = PublishedGroups(
            people=people,
            size=size,
            group=group,
            value=value,
            tuples=tuples,
            kind=kind,
            fakes=fakes,
            is_ordered=tuple(one.domain.is_ordered for one in own.attributes),
            by_rank=own.by_rank,
            **places,
        )
        counts = len(self.ids), int(self.size.sum()), int((self.size - self.people).sum())
        of = len(own.attributes)
        values = self.values.rename(dict(zip(self.values.columns, own.names[of:], strict=True)))
        bins = {
            name: _bins(edges, values[name], np.bincount(value, tuples, values.height))
            for name, edges in zip(own.names[of:], own.edges, strict=True)
            if edges
        }
        return CodedRelease(own.date, groups, counts, own.names[:of], tuple(decoders), values, bins)


def _edges(file: Path, declared: Sequence[float]) -> Sequence[float]:
    """The edges of bins, if there are any; ValueError if they are none."""
    check(file, "labels", len(declared))
    if declared:
        check_edges(declared)
    return declared


def _bins(edges: Sequence[float], values: pl.Series, tuples: Ints) -> tuple[Bins, Ints]:
    """The bins of a column, and the bin of each of its values, of which there are so many tuples."""
    place = {name: at for at, name in enumerate(bin_names(edges))}
    own = np.array([place.get(value, -1) for value in values.cast(pl.String)], np.int64)
    return Bins.of(edges, np.bincount(own[own >= 0], tuples[own >= 0], len(edges) - 1)), own


def _counterfeits(own: _Package, ids: Ints, size: Ints) -> Ints:
    """How many tuples of each group are counterfeits, int64[G]."""
    forged = _scanned(own, COUNTERFEITS, {"count": _is_integer}).collect()
    groups = pl.DataFrame({GROUP: ids, "size": size, "place": np.arange(len(ids))})
    forged = forged.join(groups, on=GROUP, how="left").with_columns(pl.col("count").cast(pl.Int64))
    is_right = pl.col("count").is_between(1, pl.col("size")).fill_null(value=False)
    if forged[GROUP].is_duplicated().any() or not forged.select(is_right.all()).item():
        raise own.refused(
            COUNTERFEITS, "a group has fewer than 1 or more than all of its tuples, or is in it twice"
        )
    found = np.zeros(len(ids), np.int64)
    found[forged["place"].to_numpy()] = forged["count"].to_numpy()
    return found


def _numbers(values: pl.DataFrame) -> Words:
    """A number of each value, of what is in it alone, uint64[V]."""
    texts = (repr(row).encode(errors="surrogatepass") for row in values.iter_rows())
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, "<u8")


def _scanned(own: _Package, table: str, kinds: Mapping[str, Kind]) -> pl.LazyFrame:
    """A table under our own names: `group_id` and those of `kinds`, which say what types they may have."""
    files = table_files(own.folder, table)
    if not files:
        raise own.refused(table, "is missing")
    frame = scan_parts(files)
    dtypes = frame.collect_schema().dtypes()
    wanted = {"release": _is_date, GROUP: _is_integer, **kinds}
    if len(dtypes) != len(wanted) or not all(
        is_one(dtype) for is_one, dtype in zip(wanted.values(), dtypes, strict=True)
    ):
        raise own.refused(table, f"has other columns than {DATA_PACKAGE} says")
    frame = frame.select(pl.nth(at).alias(name) for at, name in enumerate(wanted))
    if not frame.select(pl.col("release").eq_missing(own.date).all()).collect().item():
        raise _other_release(own.folder)
    return frame


def _is_date(dtype: pl.DataType) -> bool:
    return dtype == pl.Date


def _is_integer(dtype: pl.DataType) -> bool:
    return dtype.is_integer()


def _has_nulls(table: pl.DataFrame) -> bool:
    return any(column.has_nulls() for column in table.get_columns())


def _other_release(folder: Path) -> PublishedFolderError:
    return PublishedFolderError(
        f"{folder}: its tables have other groups, tuples or counterfeits than its manifest states, or are of"
        " another release"
    )


def refuse_view(folder: Path) -> None:
    """Raise QueryError: nothing has to be estimated of a view."""
    if not table_files(folder, "view"):
        raise PublishedFolderError(
            f"{folder}: its package says that it is a view, and it has no view.parquet"
        )
    raise QueryError(
        f"{folder}: is a view, whose rows are people under labels: nothing has to be estimated, so count the"
        " rows of view.parquet"
    )
