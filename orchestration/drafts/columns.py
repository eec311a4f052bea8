"""What a column of a table looks like: numbers, dates, labels or free text, and how it is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from republish.anonymize.contract import Written
from republish.anonymize.people.own_values import own_values
from republish.anonymize.spelling import SEVERAL
from republish.orchestration.snapshots.bounds import bounds_in
from republish.orchestration.snapshots.labels import are_labelled, as_codes
from republish.orchestration.snapshots.locale_formats import AMBIGUOUS, read_plainly, ways_to_read
from republish.orchestration.snapshots.validation import NO_VALUES

Kind = Literal["number", "date", "category", "free text", "time", "nothing", "other"]

NEARLY_ALL = 0.95
"""Where so large a share of a column are numbers or dates, a word that several have stands for no value."""
FEW_LABELS, PEOPLE_A_LABEL = 20, 5
"""So few values are labels, and more of them if so many people share one on average."""
LONGEST_LABEL = 80
CODE = r"^[A-Za-z]{0,2}\d[\w.\-/]{1,8}$"
"""A code of a classification, or of a place: `I10.90`, `04109`."""
FEWEST_IN_A_CODE = 3
YEARS_OF_PEOPLE = (1850, 2150)


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it is found; equal to itself alone."""

    name: str
    kind: Kind
    values: pl.Series
    """Those that are there, as our own programs write them: numbers, dates, or text."""
    rows: int
    no_values: tuple[str, ...] = ()
    """The words that stand for no value in it."""
    written: Written | None = None
    """How it is written, if that is to be said."""
    unsure: str = ""
    """What else it might be, in words; empty where that is clear."""
    bounds: Mapping[str, int | float] = field(default_factory=dict)
    """The words in it that are bounds, and the number that each is read as."""
    beyond: Mapping[str, int] = field(default_factory=dict)
    """How many rows have which of them."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What its codes mean, where a statistics program says it."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """How many rows have no value for a reason that the program says."""
    is_constant: bool = False
    """Whether each snapshot has one value of it alone: the year of the release, say."""
    numbers_rows: bool = False
    """Whether it numbers the rows of each snapshot as they stand, from 0 or 1 on."""

    @property
    def missing(self) -> int:
        """Rows without a value."""
        return self.rows - len(self.values)

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return self.values.n_unique()

    @property
    def is_whole(self) -> bool:
        """Whether it has whole numbers alone."""
        return self.values.dtype.is_integer()

    @property
    def is_code(self) -> bool:
        """Whether its labels are codes, of which the first letters say something by themselves."""
        labels = self.values.cast(pl.String)
        return (
            self.kind == "category"
            and self.distinct > FEW_LABELS
            and bool(labels.str.contains(CODE).all())
            and bool((labels.str.len_chars() >= FEWEST_IN_A_CODE).all())
        )


def column_of(name: str, values: pl.Series) -> Column:
    """What a column is, of one with any name."""
    values = values.alias("")
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype == pl.String:
        return _of_text(name, values)
    there = values.drop_nulls()
    kind: Kind = "other"
    if there.is_empty():
        kind = "nothing"
    elif values.dtype == pl.Boolean:
        there, kind = there.cast(pl.String), "category"
    elif values.dtype.is_numeric():
        there = there.cast(pl.Float64) if values.dtype.is_decimal() else there
        there = there if there.dtype.is_integer() else _whole_if_all_are(there.fill_nan(None).drop_nulls())
        kind = "number"
    elif values.dtype == pl.Date:
        kind = "date"
    elif isinstance(values.dtype, pl.Datetime):
        if values.dtype.time_zone is not None:
            there = there.dt.convert_time_zone("UTC")
        kind = "date" if bool((there.dt.time() == dt.time()).all()) else "time"
        there = there.dt.date() if kind == "date" else there
    if kind == "other":
        there = pl.Series(["?"] * len(there), dtype=pl.String)
    return Column(name, kind, there, len(values))


def with_labels(column: Column, labels: Mapping[str, str], reasons: Mapping[str, int]) -> Column:
    """A column that a statistics program explains: a category, if nearly all of its values have labels."""
    column = replace(column, labels=labels, reasons=reasons)
    if column.kind not in ("number", "category", "free text") or not are_labelled(column.values, labels):
        return column
    return replace(column, kind="category", values=as_codes(column.values))


def _of_text(name: str, text: pl.Series) -> Column:
    present = text.drop_nulls()
    is_word = is_word_for_nothing(present)
    words = tuple(sorted({word for word in present.filter(is_word).unique() if word != ""}))
    there, rows = present.filter(~is_word), len(text)
    if there.is_empty():
        return Column(name, "nothing", there, rows, words)
    if (found := _as_numbers_or_dates(name, there, rows, words)) is not None:
        return found
    if (with_bounds := _with_bounds(name, there, rows, words)) is not None:
        return with_bounds
    for kind in ("number", "date"):
        # A word that several have among numbers stands for none of them.
        others = _others(there, kind)
        strange = (
            others.unique() if len(others) < (1 - NEARLY_ALL) * len(there) else pl.Series(dtype=pl.String)
        )
        counts = [int((others == word).sum()) for word in strange]
        if 0 < len(strange) <= 3 and min(counts) >= SEVERAL:
            left = there.filter(~there.is_in(strange.implode()))
            more = tuple(sorted({*words, *strange}))
            found = _as_numbers_or_dates(name, left, rows, more)
            if found is not None:
                return found
    return _labels_or_text(name, there, rows, words)


def _with_bounds(name: str, text: pl.Series, rows: int, words: tuple[str, ...]) -> Column | None:
    """A column of numbers, most of them, and bounds ("> 89"); None else."""
    bounds = bounds_in(text, is_whole=True)
    numbers = text.filter(~text.is_in(list(bounds)))
    if not bounds or len(numbers) * 2 < len(text):
        return None
    found = _of_text(name, numbers)
    if found.kind != "number":
        return None
    bounds = bounds_in(text, is_whole=found.is_whole)
    words_beyond = text.filter(text.is_in(list(bounds)))
    beyond = words_beyond.replace_strict(bounds, return_dtype=found.values.dtype)
    rows_of = dict(words_beyond.value_counts(sort=True).iter_rows())
    no_values = tuple(sorted({*words, *found.no_values}))
    values = found.values.append(beyond)
    return replace(found, values=values, rows=rows, no_values=no_values, bounds=bounds, beyond=rows_of)


def _others(text: pl.Series, kind: str) -> pl.Series:
    """What of a text looks like no number, or no date."""
    looks = r"^[+-]?[\d.,' ]+$" if kind == "number" else r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}( \d.*)?$"
    return text.filter(~text.str.contains(looks))


def _as_numbers_or_dates(name: str, text: pl.Series, rows: int, words: tuple[str, ...]) -> Column | None:
    """A column of text that is numbers or dates, all of it; None else."""
    iso = text.str.to_date("%Y-%m-%d", strict=False)
    if not iso.has_nulls() and bool(text.str.contains(r"^\d{4}-\d{2}-\d{2}$").all()):
        return Column(name, "date", iso, rows, words)
    dates = ways_to_read(text, "date") if bool(text.str.contains(r"^\d.{5,}$").all()) else []
    if dates:
        plain = [read_plainly(text, "date", one).str.to_date("%Y-%m-%d") for one in dates]
        likely = [
            one
            for one, read in zip(dates, plain, strict=True)
            if read.dt.year().is_between(*YEARS_OF_PEOPLE).all()
        ]
        if likely:
            chosen, *others = likely
            said = " or ".join(str(one.date_format) for one in others)
            unsure = f"dates can be read as {said} as well" if others else ""
            read = plain[dates.index(chosen)]
            return Column(name, "date", read, rows, words, chosen, unsure)
    if _is_code_with_zeros(text):
        return None
    plain_number = text.cast(pl.Float64, strict=False)
    pointed = text.filter(text.str.contains(".", literal=True))
    is_ambiguous = not pointed.is_empty() and bool(pointed.str.contains(AMBIGUOUS).all())
    if not plain_number.has_nulls() and bool(plain_number.is_finite().all()):
        written = Written(decimal=".") if is_ambiguous else None
        unsure = "3.575 may be thousands as well (thousands: '.')" if is_ambiguous else ""
        return Column(name, "number", _whole_if_all_are(plain_number), rows, words, written, unsure)
    if ways := ways_to_read(text, "number"):
        read = read_plainly(text, "number", ways[0]).cast(pl.Float64)
        said = " or ".join(f"decimal {one.decimal or '.'}" for one in ways[1:])
        unsure = f"numbers can be read with {said} as well" if said else ""
        return Column(name, "number", _whole_if_all_are(read), rows, words, ways[0], unsure)
    return None


def _is_code_with_zeros(text: pl.Series) -> bool:
    """Whether digits begin with a zero, which a number would lose."""
    return bool(text.str.contains(r"^0\d").any()) and bool(text.str.contains(r"^\d+$").all())


def _whole_if_all_are(numbers: pl.Series) -> pl.Series:
    is_whole = bool(((numbers == numbers.floor()) & (numbers.abs() < 2**53)).all())
    return numbers.cast(pl.Int64) if is_whole else numbers


def _labels_or_text(name: str, text: pl.Series, rows: int, words: tuple[str, ...]) -> Column:
    distinct = text.n_unique()
    counted = text.alias("value").value_counts(name="people").with_columns(column=pl.lit(name))
    (found,) = own_values(counted.select("value", pl.col("people").cast(pl.Int64), "column")).to_dicts()
    is_long = bool((text.str.len_chars() > LONGEST_LABEL).any())
    is_shared = distinct <= FEW_LABELS or distinct * PEOPLE_A_LABEL <= len(text)
    is_code = bool(text.str.contains(CODE).all()) and distinct * 2 <= len(text)
    if found["texts"] or is_long or not (is_shared or is_code):
        return Column(name, "free text", text, rows, words)
    return Column(name, "category", text, rows, words)


def is_no_value(word: str) -> bool:
    """Whether a word is one that programs write for no value."""
    return word.strip().lower() in NO_VALUES


def is_word_for_nothing(text: pl.Series) -> pl.Series:
    """bool[N]: which texts are words for no value, `n/a` say, or empty."""
    return text.str.strip_chars().str.to_lowercase().is_in(NO_VALUES)


def labels_of(column: Column) -> tuple[list[str], int]:
    """The labels of a category in their order, and how many of them fewer than `SEVERAL` people have."""
    order = pl.col("value").cast(pl.Float64, strict=False) if column.labels else None
    counts = column.values.cast(pl.String).alias("value").value_counts(name="people").sort("value")
    counts = counts if order is None else counts.sort(order, maintain_order=True)
    return counts["value"].to_list(), int((counts["people"] < SEVERAL).sum())


def together(columns: Sequence[pl.Series]) -> pl.Series | None:
    """A column of several files as one; None if its types have none in common."""
    try:
        frames = [one.alias("value").to_frame() for one in columns]
        return pl.concat(frames, how="vertical_relaxed")["value"]
    except pl.exceptions.PolarsError:
        return None
