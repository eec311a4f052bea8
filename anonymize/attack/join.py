"""The join attack: a published view is joined with every earlier release, and what the join links is counted.

The join is executed, on distinct rows with their multiplicities. Where it is too large, the adversary begins
with the rarest values on X of the view, which are the most at risk, and goes on as far as there is room.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 1.1, 3.1 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from republish.anonymize.attack.finding import Count
from republish.anonymize.columns import least_of, most_of
from republish.anonymize.errors import SnapshotError
from republish.anonymize.formats.intervals import read_numbers

MOST_ROWS = 5_000_000
"""Rows of the join that are executed."""
MOST_PAIRS = 5_000_000
"""About so many pairs of join values, alike in the column that leaves the fewest, are looked at together."""
RECORDS = "records"


@dataclass(frozen=True)
class Release:
    """A published table as an adversary has it."""

    rows: pl.DataFrame
    """`column_0`, `column_1`, …: labels or values; or `column_0_low`, `column_0_high`, closed on both ends.
    With `records`, a row stands for so many records."""
    names: tuple[str, ...]
    """What the columns are called; columns of one name in two releases are the same attribute."""
    record: str | None = None
    """What `y` calls the table's records, or the people behind them."""

    def is_like(self, other: Release) -> bool:
        """Whether another table says the same."""
        same = (self.names, self.record) == (other.names, other.record)
        return same and self.rows.equals(other.rows)


@dataclass(frozen=True)
class Domains:
    """Public knowledge of the columns that releases have in common."""

    hierarchies: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """Of categories: one path `leaf, parent, …, root` per leaf."""
    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of numbers: the lowest and the highest there can be; whole numbers mean that all are."""
    inconsistent: Sequence[tuple[str, str, str, str]] = ()
    """Column of the view, column of an earlier release, a label of each: no person has both, nor what is
    below them."""


@dataclass(frozen=True)
class JoinAttack:
    """Everything that the adversary found. Counts and extremes; nothing of any one person."""

    records: int | None
    """Records of the join; None beyond 2 ** 62, where they stand for nothing any more."""
    values: int
    """Values on X in what was executed of it."""
    undecided: int
    """Records of the view that there was no room for."""
    people: int
    """Records of the view."""
    broken: int
    """Records of the view with a value on X that is linked more closely than promised."""
    linked_values: int | None
    """The least number of values on Y that a value on X is linked to."""
    linkability: float | None
    """The largest confidence with which a value on X implies a sensitive value."""
    required: float | None
    """The number or confidence that was promised; None where each sensitive value has its own."""
    view_unmatched: int
    """Records of the view that match none of an earlier release: it is about other people, or was made up."""
    earlier_unmatched: int
    """Records of earlier releases that match none of the view."""

    @property
    def closeness(self) -> float:
        """How closely a value on X is linked to one on Y; of anonymity below zero."""
        return -float(self.linked_values or 0) if self.linkability is None else self.linkability

    def count(self) -> Count:
        """The people, and the figure that was found beside the one that was promised."""
        found = self.linked_values if self.linkability is None else self.linkability
        return Count(self.people, self.broken, found, self.required, self.undecided)


def join_attack(
    view: Release,
    earlier: Sequence[Release],
    domains: Domains,
    x: Sequence[str],
    y: Sequence[str],
    *,
    joins: Sequence[Sequence[int]],
    linked_values: int | None = None,
    limits: Mapping[str, float | Mapping[str, float]] | None = None,
    most_rows: int = MOST_ROWS,
) -> list[JoinAttack]:
    """Join a view with earlier releases and count what each value on X is linked to, in each of the joins.

    Parameters
    ----------
    earlier
        The releases before the view: of this series, and of others about the same people.
    domains
        What is publicly known of common columns.
    x, y
        X and Y by name; y may have a table's `record`.
    joins
        The positions in `earlier` of those that a reader joins with the view.
    linked_values
        If (X, Y)-anonymity was promised: its k.
    limits
        If (X, Y)-linkability was promised: for each column of Y its k, or one for each of its sensitive
        values.
    most_rows
        Room for a join.
    """
    first = _read(view, "0", domains, x, y)
    others = [_read(one, str(i), domains, x, y) for i, one in enumerate(earlier, 1)]
    matching = [_matching(first, one, domains) for one in others]
    return [
        _join(
            [first, *(others[at] for at in some)],
            [matching[at] for at in some],
            domains,
            y,
            linked_values,
            limits,
            most_rows,
        )
        for some in joins
    ]


def _join(
    tables: Sequence[_Read],
    pairs: Sequence[pl.DataFrame],
    domains: Domains,
    y: Sequence[str],
    linked_values: int | None,
    limits: Mapping[str, float | Mapping[str, float]] | None,
    most_rows: int,
) -> JoinAttack:
    """Join the first of the tables with each of the others by the pairs of join values that match."""
    people = tables[0].rows[RECORDS].sum()
    in_all = reduce(
        lambda rows, pair: rows.join(pair.select("key").unique(), on="key", how="semi"), pairs, tables[0].rows
    )
    unmatched = [
        (
            tables[0].rows.join(pair, on="key", how="anti")[RECORDS].sum(),
            table.rows.join(pair, left_on="key", right_on="other", how="anti")[RECORDS].sum(),
        )
        for table, pair in zip(tables[1:], pairs, strict=True)
    ]
    chosen, records, is_small = _affordable(in_all, tables, pairs, most_rows)
    joined = chosen
    for table, pair in zip(tables[1:], pairs, strict=True):
        side = table.rows.rename({"key": "other", RECORDS: f"records_{table.number}"})
        joined = joined.join(pair, on="key").join(side, on="other").drop("other")
    named = [f"x{table.number}_{name}" for table in tables for name in table.x]
    joined = joined if named else joined.with_columns(pl.lit("").alias("x"))
    on_x = named or ["x"]
    found = (
        _count_values(joined, on_x, tables, y, linked_values)
        if limits is None
        else _confidences(
            joined, on_x, _multiplicities(joined, tables, is_small=is_small), tables, limits, domains
        )
    )
    broken = found.filter("broken")
    keys = [column for column in found.columns if column not in ("found", "broken")]
    suspects = (
        chosen.join(broken.select(own).unique(), on=own, how="semi")
        if (own := [key for key in keys if key.startswith("x0_")])
        else chosen.head(broken.height and chosen.height)
    )
    extreme = least_of(found["found"]) if limits is None else most_of(found["found"])
    plain = None if limits is None else {limit for limit in limits.values() if not isinstance(limit, Mapping)}
    return JoinAttack(
        records=records,
        values=found.height,
        undecided=int(in_all[RECORDS].sum()) - int(chosen[RECORDS].sum()),
        people=int(people),
        broken=int(suspects[RECORDS].sum()),
        linked_values=None if limits is not None else extreme,
        linkability=None if limits is None else float(extreme or 0.0),
        required=linked_values if limits is None else (plain.pop() if plain and len(plain) == 1 else None),
        view_unmatched=int(sum(ours for ours, _ in unmatched)),
        earlier_unmatched=int(sum(theirs for _, theirs in unmatched)),
    )


@dataclass(frozen=True)
class _Read:
    """A table reduced to what matters: `x<i>_<name>`, `y<i>_<name>`, `records`, `key` of join values."""

    number: str
    rows: pl.DataFrame
    keys: pl.DataFrame
    """`key`, `j_<name>` or `j_<name>_low`, `j_<name>_high`: the distinct join values."""
    x: list[str]
    y: list[str]
    names: tuple[str, ...]
    has_records: bool
    covers: Mapping[str, Mapping[str, frozenset[str]]]
    """For each category the leaves below each of its labels."""


def _read(release: Release, number: str, domains: Domains, x: Sequence[str], y: Sequence[str]) -> _Read:
    """Columns by role: join values as text, or as half-open intervals for numbers."""
    columns: dict[str, Any] = {}
    joins: dict[str, Any] = {}
    covers: dict[str, dict[str, frozenset[str]]] = {}
    for position, name in enumerate(release.names):
        if name in domains.numbers:
            where = f"{_where(number)}, column {name}"
            begin, end = (
                read_numbers(one, domains.numbers[name], where) for one in _ends(release.rows, position)
            )
            low, high = pl.Series(begin[0]), pl.Series(end[1])
            joins |= {f"j_{name}_low": low, f"j_{name}_high": high}
            text = pl.select(pl.format("{}|{}", low, high)).to_series()
            whole = all(isinstance(end, int) for end in domains.numbers[name])
            one = (low + 1 if whole else pl.Series(np.nextafter(low.to_numpy(), np.inf))) >= high
            digits = (low.cast(pl.Int64) if whole else low).cast(pl.String)
            exact = pl.select(pl.when(one).then(digits).otherwise(text)).to_series()
        else:
            paths = domains.hierarchies.get(name, ())
            text, covers[name] = _labels(release.rows, position, paths)
            exact, joins[f"j_{name}"] = text, text
        if name in x:
            columns[f"x{number}_{name}"] = text
        if name in y:
            columns[f"y{number}_{name}"] = exact
    has_records = release.record is not None and release.record in y
    weights = (
        release.rows[RECORDS]
        if RECORDS in release.rows.columns
        else pl.repeat(1, release.rows.height, eager=True)
    )
    table = pl.DataFrame({**columns, **joins, RECORDS: weights.cast(pl.Int64)})
    if has_records:  # each record is a value on Y of its own
        table = (
            table.select(pl.exclude(RECORDS).repeat_by(RECORDS).explode())
            if RECORDS in release.rows.columns
            else table
        )
        table = table.with_columns(
            pl.int_range(pl.len()).cast(pl.String).alias(f"y{number}_"), pl.lit(1, pl.Int64).alias(RECORDS)
        )
    distinct = [column for column in table.columns if column != RECORDS]
    table = table.group_by(distinct).agg(pl.col(RECORDS).sum()) if distinct else table
    keys = table.select(list(joins)).unique().with_row_index("key")
    rows = (
        table.join(keys, on=list(joins), nulls_equal=True)
        if joins
        else table.with_columns(pl.lit(0, pl.UInt32).alias("key"))
    )
    return _Read(
        number,
        rows.drop(list(joins)),
        keys,
        [name for name in release.names if name in x],
        [name for name in release.names if name in y],
        release.names,
        has_records,
        covers,
    )


def _ends(rows: pl.DataFrame, position: int) -> tuple[pl.Series, pl.Series]:
    """A column as it was published, or its two: where intervals begin, and where they end."""
    plain = f"column_{position}"
    if plain in rows.columns:
        return rows[plain], rows[plain]
    return rows[f"{plain}_low"], rows[f"{plain}_high"]


def _labels(
    rows: pl.DataFrame, position: int, paths: Sequence[Sequence[str]]
) -> tuple[pl.Series, dict[str, frozenset[str]]]:
    """A category as text, and the leaves that each of its labels covers: none, if it is no label of the tree.

    A label that covers a single leaf is written as this leaf, and one that covers all as the root.
    """
    low, high = (end.cast(pl.String).fill_null("") for end in _ends(rows, position))
    text = low if low.equals(high) else pl.select(pl.format("{}..{}", low, high)).to_series()
    if not paths:
        return text, {label: frozenset([label]) for label in text.unique()}
    below: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        for label in dict.fromkeys(path):
            below.setdefault(label, []).append(place)
    for label in ("*", "ANY"):
        below.setdefault(label, list(range(len(paths))))
    names, covers = {}, {}
    distinct = pl.DataFrame([text.alias("label"), low.alias("low"), high.alias("high")]).unique()
    for label, begin, end in distinct.iter_rows():
        covered = frozenset(paths[place][0] for place in _places(begin, end, below))
        if len(covered) == 1:
            names[label] = min(covered)
        elif len(covered) == len(paths):
            names[label] = paths[0][-1]
        else:
            names[label] = label
        covers[names[label]] = covered
    return text.replace(names), covers


def _places(begin: str, end: str, below: Mapping[str, Sequence[int]]) -> Sequence[int]:
    """The leaves, by their places in the order, from one label to another: none, if either is no label."""
    first, last = below.get(begin, ()), below.get(end, ())
    if begin == end:
        return first
    return range(min(first), max(last) + 1) if first and last else ()


def _where(number: str) -> str:
    return "the view" if number == "0" else f"earlier release {number}"


def _matching(view: _Read, other: _Read, domains: Domains) -> pl.DataFrame:
    """`key` of the view and `other` of an earlier release: join values that one person may have."""
    common = sorted(set(view.names) & set(other.names))
    possible = {}
    for name in (name for name in common if name not in domains.numbers):
        for table in (view, other):
            if unread := sum(not covered for covered in table.covers[name].values()):
                raise SnapshotError(
                    f"{_where(table.number)}: {unread} values of {name} are no labels of the"
                    " hierarchy: say what they stand for, or write * for any"
                )
        possible[name] = _possible(view.covers[name], other.covers[name])
    shares = {
        name: len(pairs) / max(1, len(view.covers[name]) * len(other.covers[name]))
        for name, pairs in possible.items()
    }
    first = min(shares, key=lambda name: shares[name], default=None)
    ours = view.keys.rename({column: f"v_{column}" for column in view.keys.columns})
    theirs = other.keys.rename({column: f"o_{column}" for column in other.keys.columns})
    size = max(1, int(MOST_PAIRS / max(1.0, theirs.height * (shares[first] if first else 1.0))))
    found = [
        _pairs(some, theirs, common, possible, first).pipe(_without_inconsistent, view, other, domains)
        for some in ours.iter_slices(size)
    ]
    keys = [pairs.select(key="v_key", other="o_key").collect() for pairs in found]
    nobody = {"key": ours.schema["v_key"], "other": theirs.schema["o_key"]}
    return pl.concat([pl.DataFrame(schema=nobody), *keys])


def _pairs(
    ours: pl.DataFrame,
    theirs: pl.DataFrame,
    common: Sequence[str],
    possible: Mapping[str, pl.DataFrame],
    first: str | None,
) -> pl.LazyFrame:
    """The pairs of join values that lie on one path in each common column, beginning with the `first`."""
    if first is None:
        pairs = ours.lazy().join(theirs.lazy(), how="cross")
    else:
        labelled = ours.lazy().join(possible[first].lazy(), left_on=f"v_j_{first}", right_on="first")
        pairs = labelled.join(theirs.lazy(), left_on="second", right_on=f"o_j_{first}", coalesce=False)
    for name in common:
        if name in possible and name != first:
            names = [f"v_j_{name}", f"o_j_{name}"]
            pairs = pairs.join(possible[name].lazy(), left_on=names, right_on=["first", "second"], how="semi")
        elif name not in possible:
            low, high = f"j_{name}_low", f"j_{name}_high"
            pairs = pairs.filter(
                pl.col(f"v_{low}") < pl.col(f"o_{high}"), pl.col(f"o_{low}") < pl.col(f"v_{high}")
            )
    return pairs


def _without_inconsistent(pairs: pl.LazyFrame, view: _Read, other: _Read, domains: Domains) -> pl.LazyFrame:
    """The pairs that a person may have: no two labels are inconsistent."""
    for ours, theirs, label, other_label in domains.inconsistent:
        if ours in view.names and theirs in other.names:
            first = _below(view, ours, label, domains.hierarchies.get(ours, ()))
            second = _below(other, theirs, other_label, domains.hierarchies.get(theirs, ()))
            pairs = pairs.filter(
                ~(pl.col(f"v_j_{ours}").is_in(first) & pl.col(f"o_j_{theirs}").is_in(second))
            )
    return pairs


def _possible(first: Mapping[str, frozenset[str]], second: Mapping[str, frozenset[str]]) -> pl.DataFrame:
    """The pairs of labels that cover a leaf in common."""
    pairs = [(a, b) for a in first for b in second if first[a] & second[b]]
    return pl.DataFrame(pairs, schema={"first": pl.String, "second": pl.String}, orient="row")


def _below(table: _Read, name: str, label: str, paths: Sequence[Sequence[str]]) -> list[str]:
    """The labels of a table's column that are a label or below it."""
    leaves = {path[0] for path in paths if label in path}
    return [
        label,
        *(one for one, covered in table.covers.get(name, {}).items() if covered and covered <= leaves),
    ]


def _affordable(
    rows: pl.DataFrame, tables: Sequence[_Read], pairs: Sequence[pl.DataFrame], most_rows: int
) -> tuple[pl.DataFrame, int | None, bool]:
    """The view's rows whose join fits, the rarest values on X first; the records of the whole join.

    Also whether these are so few that sums are exact as float64. Products over releases may exceed 64
    bits: rows of the join are counted as float64, and its records as whole numbers where they fit.
    """
    sized = rows.with_columns(
        pl.lit(1.0).alias("wide"),
        pl.lit(1, pl.Int64).alias("deep"),
        pl.col(RECORDS).cast(pl.Float64).alias("all"),
    )
    for table, pair in zip(tables[1:], pairs, strict=True):
        sizes = table.rows.group_by("key").agg(
            pl.len().cast(pl.Int64).alias("n"), pl.col(RECORDS).sum().alias("m")
        )
        reach = pair.join(sizes, left_on="other", right_on="key").group_by("key").agg(pl.col("n", "m").sum())
        sized = sized.join(reach, on="key").with_columns(
            pl.col("wide") * pl.col("n"), pl.col("deep") * pl.col("m"), pl.col("all") * pl.col("m")
        )
        sized = sized.drop("n", "m")
    size = float(sized["all"].sum())
    records = int(sized.select((pl.col("deep") * pl.col(RECORDS)).sum()).item()) if size < 2**62 else None
    is_small = size < 2**53
    if sized["wide"].sum() <= most_rows:
        return rows, records, is_small
    own = [column for column in rows.columns if column.startswith("x0_")]
    if not own:
        return rows.clear(), records, is_small
    values = sized.group_by(own).agg(pl.col("wide").sum(), pl.col(RECORDS).sum()).sort(RECORDS, "wide", *own)
    fitting = values.filter(pl.col("wide").cum_sum() <= most_rows)
    return rows.join(fitting.select(own), on=own, how="semi"), records, is_small


def _multiplicities(joined: pl.DataFrame, tables: Sequence[_Read], *, is_small: bool) -> NDArray[Any]:
    """The records that each row of the join stands for: float64, or Python's numbers, which have no end."""
    kind = np.float64 if is_small else object
    several = [joined[RECORDS], *(joined[f"records_{table.number}"] for table in tables[1:])]
    return reduce(np.multiply, (one.to_numpy().astype(kind) for one in several))


def _sums(weights: NDArray[Any], number: NDArray[Any], size: int) -> NDArray[Any]:
    """The sum of the weights of each number below `size`, exactly."""
    if weights.dtype != object:
        return np.bincount(number, weights, size)
    sums = np.zeros(size, object)
    np.add.at(sums, number, weights)
    return sums


def _count_values(
    joined: pl.DataFrame, on_x: list[str], tables: Sequence[_Read], y: Sequence[str], promised: int | None
) -> pl.DataFrame:
    """Count the distinct values on Y of each value on X: `found`, `broken`."""
    columns = [f"y{table.number}_" for table in tables if table.has_records]
    for name in y:  # of a column in several releases, the first one's values are counted
        columns += [f"y{table.number}_{name}" for table in tables if name in table.y][:1]
    counted = joined.group_by(on_x).agg(pl.struct(columns).n_unique().cast(pl.Int64).alias("found"))
    return counted.with_columns((pl.col("found") < (promised or 0)).alias("broken"))


def _confidences(
    joined: pl.DataFrame,
    on_x: list[str],
    weights: NDArray[Any],
    tables: Sequence[_Read],
    limits: Mapping[str, float | Mapping[str, float]],
    domains: Domains,
) -> pl.DataFrame:
    """Find the largest confidence in a sensitive value for each value on X: `found`, `broken`.

    A label that covers several leaves or numbers is nobody's value: to infer it infers none.
    """
    values = joined.select(on_x).unique().with_row_index("value")
    joined = joined.join(values, on=on_x, maintain_order="left")
    totals = _sums(weights, joined["value"].to_numpy(), values.height)
    worst = [values.select("value", pl.lit(0.0).alias("found"), pl.lit(False).alias("broken"))]
    for table in tables:
        for name in table.y:
            limit, column = limits[name], f"y{table.number}_{name}"
            allowed = (
                pl.col(column).replace_strict(limit, default=None, return_dtype=pl.Float64)
                if isinstance(limit, Mapping)
                else pl.lit(limit)
            )
            if name in domains.hierarchies:
                leaves = [path[0] for path in domains.hierarchies[name]]
                allowed = pl.when(pl.col(column).is_in(leaves)).then(allowed)
            if name in domains.numbers:
                allowed = pl.when(~pl.col(column).str.contains("|", literal=True)).then(allowed)
            pairs = joined.select("value", column).unique().with_row_index("pair")
            number = joined.select("value", column).join(pairs, on=["value", column], maintain_order="left")
            sums = _sums(weights, number["pair"].to_numpy(), pairs.height)
            # Each quotient is rounded once, as the limit is, so that 3 of 5 are no more than 0.6. polars
            # divides by one number as it multiplies by its inverse, which is rounded twice.
            found = (sums / totals[pairs["value"].to_numpy()]).astype(np.float64)
            linked = pairs.select("value", pl.Series("found", found), allowed.alias("limit")).drop_nulls()
            worst.append(linked.select("value", "found", (pl.col("found") > pl.col("limit")).alias("broken")))
    found = pl.concat(worst).group_by("value").agg(pl.col("found").max(), pl.col("broken").any())
    return values.join(found, on="value").drop("value")
