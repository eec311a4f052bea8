"""The attacks on a published view: the join with every earlier release, and what the table says beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from republish.anonymize.attack.figures import JoinFigures
from republish.anonymize.attack.finding import AttackResult, one
from republish.anonymize.attack.input import Told
from republish.anonymize.attack.join import Domains, Release, join_attack
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.side_channels import is_canonical
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.contract import CategoryColumn, NumberColumn, View
from republish.anonymize.errors import SnapshotError
from republish.anonymize.formats import Format
from republish.anonymize.formats.intervals import read_numbers

PREVIOUS, EARLIER = "previous_{}", "view_{}"
"""What the knowledge calls the tables of other products, and the views of the series."""


@dataclass(frozen=True)
class ViewInput:
    """A view as the attacks on it take it."""

    schema: View
    release_format: Format
    tables: Mapping[str, pl.DataFrame]
    """The published tables by name, under our own column names."""
    view: pl.DataFrame
    """`column_0`, …: the rows, without columns that the format does not have."""
    labels: Mapping[str, pl.DataFrame]
    """For each column its published labels, and what they cover."""
    people: pl.DataFrame
    """The truth: `person`, `identifier`, `column_0`, … in their own types."""
    held_back: int
    before: Knowledge
    knowledge: Knowledge
    release: int


def prepare_view(
    schema: View,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    release: int,
    before: Knowledge,
    told: Told,
) -> ViewInput:
    """Prepare what the attacks on a view have in common; arguments as those of `attack`."""
    tables = release_format.internal(tables, schema)
    main, *_ = release_format.tables(schema)
    view = tables[main].select([column for column, _ in schema.attributes()])
    distinct = view.group_by(pl.all()).len("records").with_columns(pl.col("records").cast(pl.Int64))
    return ViewInput(
        schema=schema,
        release_format=release_format,
        tables=tables,
        view=view,
        labels=_labels(view, schema),
        people=people,
        held_back=told.held_back,
        before=before,
        knowledge=before.with_releases({EARLIER.format(release): distinct.sort(pl.all())}),
        release=release,
    )


def attack_join(
    seen: ViewInput,
    *,
    joins: Sequence[Sequence[int]],
    x: Sequence[str],
    y: Sequence[str],
    others: Sequence[tuple[tuple[str, ...], str | None]],
    inconsistent: Sequence[tuple[str, str, str, str]],
    linked_values: int | None,
    limits: Mapping[str, float | Mapping[str, float]] | None,
) -> AttackResult:
    """Join a view with releases before it, as `join_attack` does: what the worst of the `joins` shows.

    The releases before it are the `others`, of other products, and then the series' own; each join has some
    of them, by position, and the first has all. There are the columns of each of the `others`, and what its
    records are called. Of a column of the view and a column of an earlier release, no person has both labels
    that are `inconsistent`.

    Raises
    ------
    SnapshotError
        If a release that the promise is about is not known.
    """
    schema = seen.schema
    names = tuple(column.name for column in schema.columns)
    earlier = [
        Release(_known(seen.before, PREVIOUS.format(position)), columns, record)
        for position, (columns, record) in enumerate(others)
    ] + [Release(_known(seen.before, EARLIER.format(n)), names) for n in range(1, seen.release)]
    categories = {one.name: one.paths for one in schema.columns if isinstance(one, CategoryColumn)}
    numbers = {one.name: one.domain for one in schema.columns if isinstance(one, NumberColumn)}
    view = Release(seen.view, names, schema.identifier)
    domains = Domains(categories, numbers, inconsistent)
    # Releases of the same people multiply records of the join, and hide what is seen without them.
    every = join_attack(
        view, earlier, domains, x, y,
        joins=_distinct(joins, earlier), linked_values=linked_values, limits=limits,
    )  # fmt: skip
    whole, found = every[0], max(every, key=lambda one: (one.broken, one.closeness))
    undecided = max(one.undecided for one in every)
    figures = JoinFigures(
        vulnerable=found.broken,
        records_of_the_join=found.records,
        values_on_x=found.values,
        linked_values=found.linked_values,
        linkability=found.linkability,
    )
    count = replace(found, undecided=undecided).count()
    table = pl.DataFrame(
        {
            "earlier_releases": [len(earlier)],
            "values": [found.values],
            "broken": [found.broken],
            "undecided": [undecided],
            "found": [count.found],
            "promised": [count.required],
            "view_unmatched": [whole.view_unmatched],
            "earlier_unmatched": [whole.earlier_unmatched],
        },
        schema_overrides={"found": pl.Float64, "promised": pl.Float64},
    )
    return AttackResult({"": count}, figures, table)


def _distinct(joins: Sequence[Sequence[int]], earlier: Sequence[Release]) -> list[Sequence[int]]:
    """The joins without those that are another one over again, as a table may have been published again."""
    alike = [next(at for at, other in enumerate(earlier) if other.is_like(one)) for one in earlier]
    distinct: dict[tuple[int, ...], Sequence[int]] = {}
    for some in joins:
        distinct.setdefault(tuple(sorted(alike[at] for at in some)), some)
    return list(distinct.values())


def _known(knowledge: Knowledge, name: str) -> pl.DataFrame:
    if name not in knowledge.releases:
        raise SnapshotError(f"{name}, a release that is to be joined with the view, was not given")
    return knowledge.releases[name]


def _labels(view: pl.DataFrame, schema: View) -> dict[str, pl.DataFrame]:
    """List the published labels of each column in order: `label`, and what of a person's value it covers.

    That is `value` for each value below it, or `low` and `high` of a half-open interval.
    """
    labels = {}
    for column, attribute in schema.attributes():
        label = view[column].unique().alias("label")
        if isinstance(attribute, NumberColumn):
            low, high = read_numbers(label, attribute.domain, f"the view, column {attribute.name}")
            labels[column] = pl.DataFrame({"label": label, "low": low, "high": high}).sort("low", "high")
            continue
        below = pl.DataFrame(
            [(node, path[0]) for path in attribute.paths for node in dict.fromkeys((*path, "*"))],
            schema={"label": pl.String, "value": pl.String},
            orient="row",
        ).with_row_index("place")
        there = label.cast(pl.String).to_frame().join(below, on="label", how="left", maintain_order="left")
        labels[column] = there.sort(pl.col("place").min().over("label"), "label").drop("place")
    return labels


def attack_records(seen: ViewInput) -> AttackResult:
    """Judge whether everybody's values lie below the labels of a row."""
    return one(seen.people.height, max(0, _compared(seen).astray))


def attack_rows(seen: ViewInput) -> AttackResult:
    """Judge whether there are no other rows than those of the people."""
    differing = _compared(seen).differing
    table = pl.DataFrame(
        {
            "records": [seen.people.height - seen.held_back],
            "published": [seen.view.height],
            "differing": [differing],
        }
    )
    return one(seen.people.height, differing, table=table)


def attack_cuts(seen: ViewInput) -> AttackResult:
    """Judge whether the labels of each generalized column are part of a cut: one of them above every value.

    The table has `column`, `labels`, `uncovered` (values of people below none, and labels that stand for no
    value) and `covered_twice` (values below two labels).
    """
    rows = []
    for (column, attribute), labels in zip(seen.schema.attributes(), seen.labels.values(), strict=True):
        if attribute.keep is not True:
            rows.append(
                (attribute.name, labels["label"].n_unique(), *_cut(seen.people[column].unique(), labels))
            )
    counts = dict.fromkeys(("labels", "uncovered", "covered_twice"), pl.Int64)
    return AttackResult(table=pl.DataFrame(rows, schema={"column": pl.String, **counts}, orient="row"))


def _cut(values: pl.Series, labels: pl.DataFrame) -> tuple[int, int]:
    """Count values or labels that are below or above none, and values that are below two labels."""
    below = values.len() - _above(values, labels)[values.name].n_unique()
    if "value" in labels.columns:
        covered = labels.drop_nulls("value")
        above = covered.group_by("value").len().filter(pl.col("len") > 1).height
        return below + labels["value"].null_count(), above
    ends = labels.sort("low", "high")
    above = ends.select((pl.col("low") < pl.col("high").shift(1)).sum()).item()
    return below, int(above)


class _Compared(NamedTuple):
    """The rows of a view beside the people's values under its labels."""

    astray: int
    """People whose values lie below the labels of no row."""
    differing: int
    """Rows that are too many or missing."""


def _compared(seen: ViewInput) -> _Compared:
    people, view, labels, held_back = seen.people, seen.view, seen.labels, seen.held_back
    placed = people.select(list(labels)).group_by(pl.all()).len("people").with_row_index("row")
    for column, covering in labels.items():
        placed = placed.join(_above(placed[column].unique(), covering), on=column).drop(column)
    own = [f"{column}_label" for column in labels]
    placed = placed.rename(dict(zip(own, labels, strict=True)))
    rows = view.with_columns(pl.col(column).cast(placed.schema[column], strict=False) for column in labels)
    rows = rows.group_by(list(labels)).len("rows")
    there = placed.join(rows, on=list(labels), how="semi").unique("row", keep="first")
    astray = people.height - held_back - int(there["people"].sum())
    expected = placed.group_by(list(labels)).agg(pl.col("people").sum())
    compared = rows.join(expected, on=list(labels), how="full", coalesce=True)
    rows_there, wanted = (pl.col(name).fill_null(0).cast(pl.Int64) for name in ("rows", "people"))
    differing = compared.select((rows_there - wanted).abs().sum()).item()
    if (
        held_back or placed["row"].n_unique() < placed.height
    ):  # a value below two labels has no row of its own
        differing = abs(view.height + held_back - people.height)
    return _Compared(astray, int(differing))


def _above(values: pl.Series, covering: pl.DataFrame) -> pl.DataFrame:
    """The labels above each value: the value's column, and `<column>_label`."""
    label = pl.col("label").alias(f"{values.name}_label")
    if "value" in covering.columns:
        own = values.to_frame().join(covering, left_on=values.name, right_on="value")
        return own.select(values.name, label)
    own = values.to_frame().with_columns(pl.col(values.name).cast(pl.Float64).alias("low")).sort("low")
    nearest = own.join_asof(covering.sort("low"), on="low", strategy="backward")
    return nearest.filter(pl.col("low") < pl.col("high")).select(values.name, label)


def attack_view_order(seen: ViewInput) -> AttackResult:
    """Rows in canonical order say nothing; in the order of the people they say who is who."""
    view, labels, people = seen.view, seen.labels, seen.people
    orders = {column: one["label"].unique(maintain_order=True).to_list() for column, one in labels.items()}
    if is_canonical(view, orders):
        return one(view.height, 0)
    for known in (people, people.sort(IDENTIFIER)):
        above = [
            known.select(column).join(_unique(_above(known[column].unique(), labels[column])), on=column,
                                      how="left", maintain_order="left")[f"{column}_label"].cast(pl.String)
            for column in labels
        ]  # fmt: skip
        alike = [one.equals(view[column].cast(pl.String)) for one, column in zip(above, labels, strict=True)]
        if view.height == known.height and all(alike):
            return one(view.height, view.height)
    return one(view.height, 0, undecided=view.height)


def _unique(above: pl.DataFrame) -> pl.DataFrame:
    return above.unique(above.columns[0], keep="first", maintain_order=True)
