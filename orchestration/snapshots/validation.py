"""Checks that a snapshot is as its contract says, column by column.

Counts alone come out of here: no identifier, and no value but where one has several names or spellings.
"""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import polars as pl

from republish.anonymize.columns import IDENTIFIER, ROW_NAME, VALUE, exactly
from republish.anonymize.contract import CategoryAttribute, DateAttribute, QuasiIdentifier, Sensitive, Table
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.people.rows import has_several_rows
from republish.anonymize.spelling import SEVERAL, normal_form, spelled_in_two_ways, value_form
from republish.orchestration.contracts.yaml_text import on_a_line
from republish.orchestration.snapshots.locale_formats import proposals

EVIDENCE = {
    "column": pl.String,
    "role": pl.String,
    "rows": pl.Int64,
    "nulls": pl.Int64,
    "duplicates": pl.Int64,
    "wrong_type": pl.Int64,
    "outside_domain": pl.Int64,
    "misspelt": pl.Int64,
}
AT_FAULT = {"row": pl.Int64, "identifier": pl.String, "column": pl.String, "fault": pl.String}
MEASURES = ("nulls", "duplicates", "wrong_type", "outside_domain", "misspelt")
LISTED = 10_000
"""Rows that are listed of each column and fault."""
NAMED = 3
"""Groups of values in several spellings that a message names."""
UNNAMED = 10
"""Columns of a source that a message names because one of them may be a missing one."""
ADDED = 20
"""Labels that a message proposes to add."""
COMPARED = 100
"""Values outside a domain that are compared with its labels."""
OUTSIDE = "outside all bins"
"""Stands for a number that is in no bin."""
HIERARCHY = "the hierarchy, with a line for each"
"""Where labels are listed, and not in the contract itself."""
SPELT = "differ from another identifier by spaces, capital letters or signs that nobody sees alone"
"""What is said of identifiers, where people have several rows, that are one person's."""
NO_VALUE = (MISSING, "#n/a", "#na", "-nan", "<na>", "n/a", "na", "nan", "nil", "null", "?", "-", "--", ".")
"""Words of other programs for no value, in small letters."""
NO_VALUES = (
    *NO_VALUE,
    "k.a.",
    "k. a.",
    "n.a.",
    "n. a.",
    "k/a",
    "keine angabe",
    "#null!",
    "(null)",
    r"\n",
    "",
)
"""Words for no value, in small letters, in files that people write, too."""


def snapshot_faults(snapshot: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """How many of a snapshot's values break each rule of the contract.

    The snapshot is as `enter` or `conform` has made it: under our own column names.

    Returns
    -------
    polars.DataFrame
        One row per column of the contract: `column`, `role` (identifier, quasi-identifier or column,
        sensitive), `rows`, and the counts `nulls` (empty text counts as null), `duplicates` (rows whose
        identifier an earlier row has, or whose row name another one has), `wrong_type` (values that can't be
        read as the column's type), `outside_domain` and `misspelt` (where no values are declared: with spaces
        around them, another value's spelling in other letters, or what programs write for no value). In a
        column that is missing every row is null.
    """
    rules = _rules(schema)
    present = [rule for rule in rules if rule.column in snapshot.columns]
    counts = snapshot.select(
        pl.struct(
            count.alias(measure) for measure, count in rule.counts(snapshot.schema[rule.column]).items()
        ).alias(rule.column)
        for rule in present
    ).to_dicts()
    missing = dict.fromkeys(MEASURES, 0) | {"nulls": snapshot.height}
    counted = {rule.column: missing for rule in rules} | (counts[0] if counts else {})
    return pl.DataFrame(
        [
            {"column": rule.name, "role": rule.role, "rows": snapshot.height} | counted[rule.column]
            for rule in rules
        ],
        schema=EVIDENCE,
    )


def conform(snapshot: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The schema's columns in its order and types, of a snapshot without faults.

    Identifiers are text, whole numbers (Int64) or bytes, as the source has them; attributes have their own
    type; the sensitive column, if there is one, is String or Int64.
    """
    return snapshot.select(
        rule.converted(snapshot.schema[rule.column]).alias(rule.column) for rule in _rules(schema)
    )


def columns_without_values(snapshot: pl.DataFrame, schema: Table) -> frozenset[str]:
    """The names of columns that may lack values, and of which nobody in a shard has one."""
    rules = [one for one in _rules(schema) if one.missing == "accept" and one.column in snapshot.columns]
    empty = snapshot.select(
        _values(rule.column, snapshot.schema[rule.column]).is_null().all().alias(rule.column)
        for rule in rules
    )
    return frozenset(rule.name for rule in rules if empty[rule.column].all())


def describe_faults(
    snapshot: pl.DataFrame, schema: Table, present: Sequence[str] = (), counted: pl.DataFrame | None = None
) -> list[str]:
    """Every fault in a publisher's words: column, count, rule, way out. Empty if there is none.

    Parameters
    ----------
    snapshot
        As `enter` has made it.
    present
        The names of all columns of the source: one of them may be what a missing one is called there.
    counted
        What `snapshot_faults` counted, of more people than these; None to count these.
    """
    rules = _rules(schema)
    missing = [rule for rule in rules if rule.column not in snapshot.columns]
    faults = [_missing(rule.name, present, schema.column_names().values()) for rule in missing]
    evidence = snapshot_faults(snapshot, schema) if counted is None else counted
    for rule, row in zip(rules, evidence.rows(named=True), strict=True):
        if rule not in missing:
            faults += [
                f"{rule.name}: {_first(rule, measure, snapshot)}{row[measure]:,} of {row['rows']:,} rows"
                f" {rule.does(measure)}; {_way_out(rule, measure, snapshot)}"
                for measure in MEASURES
                if row[measure]
            ]
    return faults


def counted_together(several: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up the counts of `snapshot_faults` for the parts of a snapshot."""
    if len(several) == 1:
        return several[0]
    counts = pl.col("rows", *MEASURES).sum()
    return pl.concat(several).group_by("column", "role", maintain_order=True).agg(counts)


def rows_at_fault(snapshot: pl.DataFrame, schema: Table, numbers: pl.Series | None = None) -> pl.DataFrame:
    """Which rows break a rule, for the publisher alone: identifiers are in it.

    `numbers` are those of its rows in the source; None if these are all.

    Returns
    -------
    polars.DataFrame
        `row` (from 1 on, in the source's order), `identifier` (as text), `column`, `fault` (in words), and
        `row_name` (as text) where people have several rows; the first `LISTED` rows of each column and fault.
    """
    numbered = snapshot.with_row_index("row", offset=1)
    if numbers is not None:
        numbered = numbered.with_columns(numbers.alias("row"))
    names = [ROW_NAME] if ROW_NAME in snapshot.columns else []
    found = [
        numbered.filter(breaks)
        .head(LISTED)
        .select(
            pl.col("row").cast(pl.Int64),
            _readable(IDENTIFIER, snapshot.schema),
            pl.lit(rule.name).alias("column"),
            pl.lit(rule.does(measure)).alias("fault"),
            *(_readable(name, snapshot.schema) for name in names),
        )
        for rule in _rules(schema)
        if rule.column in snapshot.columns
        for measure, breaks in rule.broken(snapshot.schema[rule.column]).items()
    ]
    return pl.concat(found) if found else pl.DataFrame(schema=AT_FAULT)


def _readable(column: str, schema: pl.Schema) -> pl.Expr:
    """Identifiers, or names of rows, as text; null where such a column is not there, or is nested."""
    kind = schema.get(column, pl.Null())
    if kind == pl.Binary:
        return exactly(column).bin.encode("hex")
    is_text = column in schema and not kind.is_nested()
    return exactly(column).cast(pl.String) if is_text else pl.lit(None, pl.String).alias(column)


def _first(rule: _Rule, measure: str, snapshot: pl.DataFrame) -> str:
    """The sentence on values that says more than how many rows have them: nothing of most faults."""
    if measure != "misspelt":
        return ""
    values = snapshot.select(rule.converted(snapshot.schema[rule.column]).alias("value"))["value"]
    spelled = spelled_in_two_ways(values, NAMED)
    return f"{spelled}; " if spelled else ""


def _way_out(rule: _Rule, measure: str, snapshot: pl.DataFrame) -> str:
    if measure == "duplicates" and (rule.role == "row" or rule.repeats == SPELT):
        return _OUT["row" if rule.role == "row" else SPELT]
    if (
        measure == "wrong_type"
        and rule.written in ("number", "date")
        and _is_text(snapshot.schema[rule.column])
    ):
        lines = proposals(snapshot[rule.column].cast(pl.String), rule.written, NO_VALUES)
        declare = f"if it is a file, write {' or '.join(lines)} under source; else " if lines else ""
        return declare + _OUT[measure] + _with_decimals(rule, snapshot)
    if measure == "wrong_type" and getattr(snapshot.schema[rule.column], "time_zone", None):
        return f"of moments with a time zone, midnights of UTC are dates: {_OUT[measure]}"
    if measure == "nulls" and (rule.missing != "refuse" or rule.role == "identifier"):
        return _OUT["no value" if rule.missing != "refuse" else "nobody"]
    if measure != "outside_domain":
        return _OUT[measure]
    out = _OUT[HIERARCHY if rule.listed == HIERARCHY else measure]
    return f"{_renamed(rule, snapshot)}{out}{_to_add(rule, snapshot)}{_close(rule, snapshot)}"


def _with_decimals(rule: _Rule, snapshot: pl.DataFrame) -> str:
    """A hint if text has numbers with decimals where whole numbers are declared."""
    numbers = snapshot[rule.column].cast(pl.String).cast(pl.Float64, strict=False)
    is_for_fractions = rule.kind == "whole numbers" and rule.role != "sensitive" and (numbers % 1 != 0).any()
    return "; of numbers with decimals, the domain has some, too: [0.0, 100.0]" if is_for_fractions else ""


def _renamed(rule: _Rule, snapshot: pl.DataFrame) -> str:
    """A hint if one value of several people may be another name of a declared one that nobody has."""
    is_grouped = rule.listed == HIERARCHY
    if rule.role != "sensitive" or is_grouped or not (rule.labels and _is_text(snapshot.schema[rule.column])):
        return ""
    values = snapshot[rule.column].cast(pl.String)
    undeclared = values.filter(~values.is_in(rule.labels) & (values != ""))
    unused = set(rule.labels) - set(values.unique())
    if not (len(unused) == undeclared.n_unique() == 1 and len(undeclared) >= SEVERAL):
        return ""
    line = on_a_line({"renamed": {unused.pop(): undeclared[0]}})[1:-1]
    place = "sensitive" if rule.column == VALUE else f"sensitive, in the column {rule.name}"
    return f"if it is another name of a value that the contract lists, write under {place}: {line}; else "


def _to_add(rule: _Rule, snapshot: pl.DataFrame) -> str:
    """The labels outside a domain that several people have, as they are to be added."""
    dtype = snapshot.schema[rule.column]
    if not rule.labels:
        return ""
    outside = snapshot.filter(rule.broken(dtype)["outside_domain"])
    values = outside.select(rule.converted(dtype).alias("value"))["value"]
    counts = values.value_counts(name="people", sort=True)
    names = counts.filter(pl.col("people") >= SEVERAL)["value"]
    if names.is_empty():
        return ""
    line = on_a_line(sorted(names.head(ADDED).to_list()))[1:-1]
    more = f", and {len(names) - ADDED:,} more" if len(names) > ADDED else ""
    return f"; to add to {rule.listed}: {line}{more} ({SEVERAL} people and more have each)"


def _close(rule: _Rule, snapshot: pl.DataFrame) -> str:
    """A hint if some of the values outside a domain, or the contract's labels, may be misspelt."""
    labels = rule.close_labels(snapshot)
    return f"; some are close to {', '.join(labels[:5])}: misspelt here or there?" if labels else ""


def _missing(name: str, present: Sequence[str], declared: Collection[str]) -> str:
    """A sentence on a column that is missing, and its likely name, or all that it may be, in the source."""
    folded = {column.strip().lower(): column for column in present}
    close = difflib.get_close_matches(name.strip().lower(), folded, n=1, cutoff=0.75)
    hint = f"; the source has {folded[close[0]]}, is that the one?" if close else ""
    others = [column for column in present if column not in declared]
    if others and not close and len(others) < len(present):  # else the first line may be a person's
        hint = f"; the contract does not name these of the source: {', '.join(others[:UNNAMED])}"
    return f"the column {name} is missing: {_OUT['missing']}{hint}"


_OUT = {
    "missing": "add or rename it in the source, or correct the contract",
    "nulls": "fill them in the source, or write beside the column in the contract missing: publish, which"
    " makes it a value of its own, or missing: leave_out, which leaves these people out",
    "nobody": "fill them in the source, or leave these rows out there: a person is known by it",
    "no value": "nobody has one: fill them in the source, or take the column out of the contract",
    "duplicates": "a snapshot has one row for each person, and identifiers that differ by spaces, capital"
    " letters or signs that nobody sees alone are one person's. If people have several rows (visits, claims),"
    " say so (rows: several), or choose one of each in the source: the last one, say",
    "wrong_type": "correct them in the source, or what the contract says of the column",
    SPELT: "write a person's identifier in one way in the source, and that of another person otherwise",
    "row": "give each row its own in the source (spaces, capital letters and signs that nobody sees make"
    " no difference), or leave out what is there twice",
    "outside_domain": "correct them in the source, or widen the domain in the contract",
    HIERARCHY: "correct them in the source, or add them to the hierarchy: a line of its file for each, or a"
    " wider domain",
    "misspelt": "correct them in the source, or list every value under sensitive.values",
}


@dataclass(frozen=True)
class _Rule:
    """The contract's rules for one column."""

    column: str
    """Our name of it."""
    name: str
    """The publisher's name of it."""
    role: str
    kind: str
    """A word for the values: `whole numbers`."""
    convert: Callable[[pl.Expr, pl.DataType], pl.Expr | None]
    """The values as the contract has them, null where one can't be; None if none can."""
    dtype: pl.DataType
    inside: Callable[[pl.Expr], pl.Expr] | None = None
    """Which of the converted values lie in the domain; None if all do."""
    domain: str = ""
    """The domain, in words: `0 to 120`."""
    labels: tuple[str, ...] = ()
    """The domain, where it consists of labels."""
    listed: str = ""
    """The key of the contract that lists them, or the file with a line for each."""
    written: str = ""
    """`number` or `date`, which text writes in several ways; else something else."""
    repeats: str = ""
    """A verb for the rows that name what another row names, where each is to name something else."""
    missing: Literal["refuse", "some", "accept"] = "refuse"
    """Whether values may be missing: none, not all, or, where these are the people of a shard, any."""

    def converted(self, dtype: pl.DataType) -> pl.Expr:
        """The column as the contract has it; null where a value is null or of another type."""
        values = _values(self.column, dtype)
        converted = None if dtype == pl.Null else self.convert(values, dtype)
        if converted is None:
            return pl.when(exactly(self.column).is_null()).then(pl.lit(None, self.dtype)).otherwise(None)
        return converted

    def counts(self, dtype: pl.DataType) -> dict[str, pl.Expr]:
        """The number of rows that break each rule."""
        return {measure: breaks.sum() for measure, breaks in self.broken(dtype).items()}

    def broken(self, dtype: pl.DataType) -> dict[str, pl.Expr]:
        """Which rows break each rule."""
        values, converted = _values(self.column, dtype), self.converted(dtype)
        nothing = pl.lit(value=False)
        # An unhashable kind of value (a list, say) is of a wrong type as a whole: nothing to compare.
        is_name = self.repeats != "" and not dtype.is_nested()
        form = normal_form(values) if is_name and _is_text(dtype) else values
        again = ~form.is_first_distinct()
        if self.role == "row":
            again = pl.len().over(form) > 1
        elif self.repeats == SPELT:
            again = values.n_unique().over(form) > 1
        free_text = self.inside is None and _is_text(dtype)
        return {
            "nulls": values.is_null() & self._is_fault(values),
            "duplicates": values.is_not_null() & again if is_name else nothing,
            "wrong_type": values.is_not_null() & converted.is_null(),
            "outside_domain": (~self.inside(converted)).fill_null(value=False) if self.inside else nothing,
            "misspelt": _misspelt(converted) if self.role == "sensitive" and free_text else nothing,
        }

    def _is_fault(self, values: pl.Expr) -> pl.Expr:
        """Whether missing values are a fault."""
        return values.is_null().all() if self.missing == "some" else pl.lit(self.missing == "refuse")

    def does(self, measure: str) -> str:
        """A verb for the rows that break a rule."""
        return {
            "nulls": "have no value",
            "duplicates": self.repeats,
            "wrong_type": f"are not {self.kind}",
            "outside_domain": f"are not in the hierarchy ({self.domain})"
            if self.listed == HIERARCHY
            else f"lie outside the domain ({self.domain})",
            "misspelt": "have spaces around them, differ from another value by capital letters alone, by"
            " signs that nobody sees or by how a letter or a number is written, or stand for no value"
            " (null, n/a)",
        }[measure]

    def close_labels(self, snapshot: pl.DataFrame) -> list[str]:
        """The contract's own labels that values outside the domain are close to; no value itself."""
        dtype = snapshot.schema[self.column]
        if not (self.labels and _is_text(dtype)):
            return []
        outside = snapshot.filter(self.broken(dtype)["outside_domain"])[self.column].cast(pl.String)
        labels = {label.strip().lower(): label for label in self.labels}
        found = [
            difflib.get_close_matches(value.strip().lower(), labels, n=1, cutoff=0.75)
            for value in outside.unique().sort().head(COMPARED)
        ]
        return sorted({labels[close] for close, *_ in filter(None, found)})


def _misspelt(values: pl.Expr) -> pl.Expr:
    """Which values are hardly meant as values of their own."""
    trimmed, form = values.str.strip_chars(), value_form(values)
    several = values.n_unique().over(form) > 1
    return ((trimmed != values) | several | form.is_in(NO_VALUE)).fill_null(value=False)


def _values(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column with empty text as null: a value that is not there, however a source writes it."""
    values = exactly(column)
    if isinstance(dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    return values.replace("", None) if _is_text(dtype) else values


def _rules(schema: Table) -> list[_Rule]:
    """One rule per column, in the contract's order."""
    may_lack: Literal["some", "accept"] = "some" if getattr(schema, "shards", 1) == 1 else "accept"
    is_several = has_several_rows(schema)
    repeats = {IDENTIFIER: SPELT if is_several else "repeat the identifier of another row"}
    repeats[ROW_NAME] = f"have the same {schema.column_names().get(ROW_NAME)} (`row`) as another row"
    names = [
        _Rule(
            column, name, role, "text or whole numbers", _as_identifier, pl.String(), repeats=repeats[column]
        )
        for column, role in ((IDENTIFIER, "identifier"), (ROW_NAME, "row"))
        if (name := schema.column_names().get(column)) is not None
    ]
    attributes = [
        (_attribute_rule(column, attribute, schema.ROLE), attribute.missing)
        for column, attribute in schema.attributes()
    ]
    sensitive = [(_sensitive_rule(column, one), one.missing) for column, one in schema.sensitive_columns()]
    others = [
        rule if missing == "refuse" else replace(rule, missing=may_lack)
        for rule, missing in (*attributes, *sensitive)
    ]
    return [*names, *others]


def _attribute_rule(column: str, attribute: QuasiIdentifier, role: str) -> _Rule:
    rule = partial(_Rule, column, attribute.name, role, dtype=attribute.dtype, written=attribute.kind)
    if isinstance(attribute, CategoryAttribute):
        labels = tuple(
            label for label in attribute.labels if label != MISSING or not attribute.publishes_missing
        )
        domain = f"{len(labels)} labels"
        inside = lambda values: values.is_in(list(labels))  # noqa: E731 - as the other rules have it
        listed = "order" if attribute.order else HIERARCHY
        return rule("text", _as_label, inside=inside, domain=domain, labels=labels, listed=listed)
    if isinstance(attribute, DateAttribute):
        kind, convert = "dates (YYYY-MM-DD, or as declared)", _as_date
    elif attribute.discrete:
        kind, convert = "whole numbers", _as_whole_number
    else:
        kind, convert = "numbers", _as_number
    low, high = attribute.domain
    if (step := getattr(attribute, "step", 1)) > 1:
        stepped = lambda values: values.is_between(low, high) & (values % step == 0)  # noqa: E731
        return rule(kind, convert, inside=stepped, domain=f"{low} to {high} in steps of {step}")
    inside = lambda values: values.is_between(low, high)  # noqa: E731
    return rule(kind, convert, inside=inside, domain=f"{low} to {high}")


def _sensitive_rule(column: str, sensitive: Sensitive) -> _Rule:
    values = list(sensitive.in_source)
    if sensitive.bins:
        return _bins_rule(column, sensitive)
    inside = (lambda given: given.is_in(values)) if values else None
    domain = f"the {len(values)} values that the contract lists"
    dtype: pl.DataType
    if not values:
        convert = _as_text if sensitive.publishes_missing else _as_text_or_whole_number
        kind, dtype = "text or whole numbers", pl.String()
    elif isinstance(values[0], int):
        kind, convert, dtype = "whole numbers", _as_whole_number, pl.Int64()
    else:
        kind, convert, dtype = "text", partial(_as_label_of_level, labels=sensitive.labels), pl.String()
    written = "number" if dtype == pl.Int64 else ""
    named, listed = tuple(value for value in values if isinstance(value, str)), "values"
    if sensitive.hierarchy:  # what is outside of it is compared with what is in the source, below the level
        named, listed = tuple(path[0] for path in sensitive.hierarchy), HIERARCHY
        domain = f"{len(named)} values"
    return _Rule(
        *(column, sensitive.name, "sensitive", kind, convert, dtype, inside, domain, named, listed, written)
    )


def _bins_rule(column: str, sensitive: Sensitive) -> _Rule:
    """Numbers become the names of their bins, which stay as they are."""
    edges, names = sensitive.bins, sensitive.in_source

    def convert(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
        number = _as_number(values, dtype)
        if number is None:
            return None
        position = pl.lit(pl.Series(edges, dtype=pl.Float64)).search_sorted(number, side="right")
        places = dict(enumerate(names, start=1))
        found = pl.when(number.is_not_null()).then(position.replace_strict(places, default=OUTSIDE))
        return pl.when(values.is_in(list(names))).then(values).otherwise(found) if _is_text(dtype) else found

    domain = f"{edges[0]} to under {edges[-1]}"
    inside = lambda given: given.is_in(list(names))  # noqa: E731 - as the other rules have it
    return _Rule(
        column, sensitive.name, "sensitive", "numbers", convert, pl.String(), inside, domain, (), "", "number"
    )


def _as_identifier(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text and bytes as they are, whole numbers as Int64, or as text where they may be wider than that."""
    if _is_text(dtype) or dtype == pl.Binary:
        return values
    if dtype in (pl.UInt64, pl.Int128, pl.UInt128) or (_is_whole(dtype) and dtype.is_decimal()):
        return values.cast(pl.String)
    return values.cast(pl.Int64) if _is_whole(dtype) else None


def _as_text_or_whole_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    return values if _is_text(dtype) else _as_whole_number(values, dtype)


def _as_text(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text, and whole numbers as they are written: a label for missing ones can be among them."""
    found = _as_text_or_whole_number(values, dtype)
    return None if found is None else found.cast(pl.String)


def _as_label(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text, and dates, whole numbers, decimals and truth values as they are written."""
    if _is_text(dtype):
        return values
    if dtype.is_temporal():
        date = _as_date(values, dtype)
        return None if date is None else date.dt.to_string("%Y-%m-%d")
    is_written = dtype.is_integer() or dtype.is_decimal() or dtype == pl.Boolean
    return values.cast(pl.String) if is_written else None


def _as_label_of_level(values: pl.Expr, dtype: pl.DataType, labels: Mapping[str, str]) -> pl.Expr | None:
    """Labels, and in place of the values below one the label: a source may have either, I10 beside I10.9."""
    own = _as_label(values, dtype)
    return own if own is None or not labels else own.replace(labels)


def _as_whole_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Whole numbers, also those written with decimals (39.0)."""
    if _is_whole(dtype):
        return values.cast(pl.Int64, strict=False)
    number = _as_number(values, dtype)
    if number is None:
        return None
    is_whole = (number == number.floor()) & (number.abs() < 2**53)
    whole = pl.when(is_whole).then(number).cast(pl.Int64, strict=False)
    return pl.coalesce(values.cast(pl.Int64, strict=False), whole) if _is_text(dtype) else whole


def _as_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    if not (dtype.is_numeric() or _is_text(dtype)):
        return None
    return values.cast(pl.Float64, strict=False).fill_nan(None)


def _as_date(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Dates, midnights (of moments with a time zone those of UTC), and text YYYY-MM-DD."""
    if dtype == pl.Date:
        return values
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            # Most sources keep the moment alone, and show it in the zone of the machine that asks.
            values = values.dt.convert_time_zone("UTC")
        return pl.when(values.dt.time() == dt.time()).then(values.dt.date())
    if _is_text(dtype):
        is_iso = values.str.contains(r"^\d{4}-\d{2}-\d{2}$")
        return pl.when(is_iso).then(values).str.to_date("%Y-%m-%d", strict=False)
    return None


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def _is_whole(dtype: pl.DataType) -> bool:
    """Whether a type has whole numbers alone."""
    return dtype.is_integer() or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)
