"""The attacks on a published view: the join with every earlier release, and what the table says beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from anonymize.attack import finding as fi
from anonymize.attack.finding import finding
from anonymize.attack.join import Domains, JoinAttack, Release, join_attack, published_intervals
from anonymize.attack.knowledge import Knowledge
from anonymize.attack.release import ReleaseAttack
from anonymize.attack.side_channels import is_canonical
from anonymize.attack.tables import identifiers
from anonymize.columns import IDENTIFIER
from anonymize.contract import CategoryColumn, NumberColumn, View
from anonymize.errors import SnapshotError
from anonymize.formats import Format
from anonymize.formats.format import EXTRA
from anonymize.promise.promise import Promise

PREVIOUS, EARLIER = "previous_{}", "view_{}"
"""What the knowledge calls the tables of other products, and the views of the series."""


def attack_view(
    schema: View,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    promises: Sequence[Promise],
    knowledge: Knowledge | None = None,
    *,
    linkage: pl.DataFrame | None = None,
    held_back: int = 0,
    is_own_format: bool = True,  # noqa: ARG001 - nobody else's views can be read
    everything: bool = False,  # noqa: ARG001 - there is nothing that takes long
    seconds: float = 60.0,  # noqa: ARG001
) -> ReleaseAttack:
    """Attack a view with every release before it.

    Parameters
    ----------
    schema
        The view's columns, with their hierarchies and domains.
    release_format
        How it is published.
    tables
        The published tables by name, in file order.
    people
        The truth: `person`, `identifier`, `column_0`, … in their own types.
    promises
        What each release so far promised; the last one's counts.
    knowledge
        What the attack on the release before returned. `releases` in it has the other products' tables too.
    linkage
        `person`, `group_id` of everybody in the release: how many there are is counted.
    held_back
        How many people of the snapshot are not in the release on purpose.

    Raises
    ------
    SnapshotError
        If a release that the promise is about is not known.
    """
    number, remembered = len(promises), knowledge or Knowledge()
    tables = release_format.internal(tables, schema)
    main, *_ = release_format.tables(schema)
    columns = [column for column, _ in schema.attributes()]
    view = tables[main].select(columns)
    found = _join(view, schema, promises[-1], remembered, number)
    labels = _labels(view, schema)
    findings = pl.concat(
        [
            *_records(people, view, labels, held_back),
            found.finding(),
            _row_order(tables[main], people, labels),
            identifiers(tables, people[IDENTIFIER]),
            _unread(tables[main]),
        ]
    )
    distinct = view.group_by(pl.all()).len("records").with_columns(pl.col("records").cast(pl.Int64))
    figures = {
        "people": people.height,
        "hosts_known": 0 if linkage is None else linkage.height,
        "vulnerable": found.broken,
        "records_of_the_join": found.records,
        "values_on_x": found.values,
        "linked_values": found.linked_values,
        "linkability": found.linkability,
        "promises": findings.height,
        "broken_promises": int((~findings["holds"]).sum()),
    }
    nobody = pl.DataFrame(schema={"candidates": pl.Int64, "people": pl.Int64})
    return ReleaseAttack(
        findings, figures, nobody, remembered.with_releases({EARLIER.format(number): distinct.sort(pl.all())})
    )


def _join(
    view: pl.DataFrame, schema: View, promise: Promise, knowledge: Knowledge, number: int
) -> JoinAttack:
    """The join with other products' releases, then with the series' own."""
    join = promise.join
    names = tuple(column.name for column in schema.columns)
    others = [
        Release(_known(knowledge, PREVIOUS.format(position)), columns, record)
        for position, (columns, record) in enumerate(zip(join.previous, join.records, strict=True))
    ]
    own = [Release(_known(knowledge, EARLIER.format(n)), names) for n in range(1, number)]
    categories = {one.name: one.paths for one in schema.columns if isinstance(one, CategoryColumn)}
    numbers = {one.name: one.domain for one in schema.columns if isinstance(one, NumberColumn)}
    return join_attack(
        Release(view, names, schema.identifier),
        [*others, *own],
        Domains(categories, numbers, join.inconsistent),
        join.x,
        join.y,
        linked_values=promise.linked_values,
        limits=join.limits,
    )


def _known(knowledge: Knowledge, name: str) -> pl.DataFrame:
    if name not in knowledge.releases:
        raise SnapshotError(f"{name}, a release that is to be joined with the view, was not given")
    return knowledge.releases[name]


def _labels(view: pl.DataFrame, schema: View) -> dict[str, pl.DataFrame]:
    """For each column its published labels in order: `label`, and what of a person's value it covers.

    That is `value` for each value below it, or `low` and `high` of a half-open interval.
    """
    labels = {}
    for column, attribute in schema.attributes():
        label = view[column].unique().alias("label")
        if isinstance(attribute, NumberColumn):
            low, high = published_intervals(label, attribute.domain)
            labels[column] = pl.DataFrame([label, low.alias("low"), high.alias("high")]).sort("low", "high")
            continue
        below = pl.DataFrame(
            [(node, path[0]) for path in attribute.paths for node in dict.fromkeys((*path, "*"))],
            schema={"label": pl.String, "value": pl.String},
            orient="row",
        ).with_row_index("place")
        there = label.cast(pl.String).to_frame().join(below, on="label", how="left", maintain_order="left")
        labels[column] = there.sort(pl.col("place").min().over("label"), "label").drop("place")
    return labels


def _records(
    people: pl.DataFrame, view: pl.DataFrame, labels: Mapping[str, pl.DataFrame], held_back: int
) -> list[pl.DataFrame]:
    """Whether everybody's values lie below the labels of a row, and there are no other rows."""
    placed = people.select(list(labels)).group_by(pl.all()).len("people").with_row_index("row")
    for column, covering in labels.items():
        placed = placed.join(_above(placed[column].unique(), covering), on=column).drop(column)
    own = [f"{column}_label" for column in labels]
    placed = placed.rename(dict(zip(own, labels, strict=True)))
    rows = view.with_columns(pl.col(column).cast(placed.schema[column], strict=False) for column in labels)
    rows = rows.group_by(list(labels)).len("rows")
    there = placed.join(rows, on=list(labels), how="semi").unique("row")
    astray = people.height - held_back - int(there["people"].sum())
    expected = placed.group_by(list(labels)).agg(pl.col("people").sum())
    compared = rows.join(expected, on=list(labels), how="full", coalesce=True)
    rows_there, wanted = (pl.col(name).fill_null(0).cast(pl.Int64) for name in ("rows", "people"))
    differing = compared.select((rows_there - wanted).abs().sum()).item()
    if (
        held_back or placed["row"].n_unique() < placed.height
    ):  # a value below two labels has no row of its own
        differing = abs(view.height + held_back - people.height)
    return [
        finding(fi.COVERAGE, people.height, max(0, astray)),
        finding(fi.COUNTS, people.height, int(differing)),
    ]


def _above(values: pl.Series, covering: pl.DataFrame) -> pl.DataFrame:
    """The labels above each value: the value's column, and `<column>_label`."""
    label = pl.col("label").alias(f"{values.name}_label")
    if "value" in covering.columns:
        own = values.to_frame().join(covering, left_on=values.name, right_on="value")
        return own.select(values.name, label)
    own = values.to_frame().with_columns(pl.col(values.name).cast(pl.Float64).alias("low")).sort("low")
    nearest = own.join_asof(covering.sort("low"), on="low", strategy="backward")
    return nearest.filter(pl.col("low") < pl.col("high")).select(values.name, label)


def _row_order(table: pl.DataFrame, people: pl.DataFrame, labels: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Rows in canonical order say nothing; in the order of the people they say who is who."""
    view = table.select(list(labels))
    orders = {column: one["label"].unique(maintain_order=True).to_list() for column, one in labels.items()}
    if is_canonical(view, orders):
        return finding(fi.ROW_ORDER, view.height, 0)
    for known in (people, people.sort(IDENTIFIER)):
        above = [
            known.select(column).join(_unique(_above(known[column].unique(), labels[column])), on=column,
                                      how="left", maintain_order="left")[f"{column}_label"].cast(pl.String)
            for column in labels
        ]  # fmt: skip
        alike = [one.equals(view[column].cast(pl.String)) for one, column in zip(above, labels, strict=True)]
        if view.height == known.height and all(alike):
            return finding(fi.ROW_ORDER, view.height, view.height)
    return finding(fi.ROW_ORDER, view.height, 0, undecided=view.height)


def _unique(above: pl.DataFrame) -> pl.DataFrame:
    return above.unique(above.columns[0], keep="first", maintain_order=True)


def _unread(table: pl.DataFrame) -> pl.DataFrame:
    unknown = [column for column in table.columns if column.startswith(EXTRA)]
    return finding(fi.UNREAD, table.width, len(unknown))
