"""The worth of a release of groups to a researcher, in a few figures; `views` has those of a view."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryColumn, QuasiIdentifier, Schema
from republish.anonymize.formats import Format
from republish.anonymize.formats.published import Published, with_fewer_columns
from republish.anonymize.people.codes import code_domain, encode
from republish.anonymize.utility.discernibility import discernibility
from republish.anonymize.utility.queries import (
    Workload,
    overlap,
    relative_errors,
    true_counts,
    workload_error,
    workload_of_people,
)

QUERIES = 200
WIDTH = 0.5
"""The share of each quasi-identifier's domain that a query asks for."""


@dataclass(frozen=True)
class Usefulness:
    """Figures of one release."""

    groups: int
    mean_group: float
    """Tuples in a group, on average."""
    counterfeits: int
    held_back: int
    """People of the table who are not in the release."""
    widths: dict[str, float]
    """How many values (days; of fractions the length) an interval of each quasi-identifier covers, or a label
    of each generalized column of a view, on average over tuples, by our name of its column."""
    shares: dict[str, float]
    """The same as a share of the domain, 0 to 1."""
    discernibility: int
    query_error: float
    """Mean relative error of counts that are estimated from the release, see `workload_error`."""
    median_error: float
    """The median of the same errors; of several sensitive columns, of those of counts by each one, because
    few people have one combination."""
    error_without: float
    """The same error of somebody who has the number of people with each value, and no quasi-identifiers; of a
    view, of somebody who has the number of its records."""
    errors_by_column: dict[str, float] = field(default_factory=dict)
    """Of several sensitive columns, `query_error` is of counts of people with one combination. This is the
    same error of counts by each column, and, of three and more, by every two of them; by their names."""


def usefulness(
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    published: Published,
    schema: Schema,
    known: pl.DataFrame,
) -> Usefulness:
    """Measure how wide a release's intervals are, and how far counts that are estimated from it are off.

    The queries are random, and always the same of one table: each asks for people with one sensitive value,
    whose quasi-identifiers all lie in an interval of half of their domain, around those of somebody in the
    table (`workload_of_people`).

    Parameters
    ----------
    release_format
        A format of groups.
    tables
        The published tables under our own column names.
    published
        The same, read as groups.
    schema
        The quasi-identifiers with their domains, and the sensitive attribute.
    known
        The truth: `value`, `qi_0`, … as codes; not empty.

    References
    ----------
    The error: Liu and Wang, Privacy streamliner, CODASPY 2012, section 4.2.
    """
    main, *_ = release_format.tables(schema)
    boxes = _boxes(tables[main], schema)
    sizes = published.sizes
    counterfeits = int(published.counterfeits["count"].sum() or 0)
    tuples = int(sizes["size"].sum())
    workload, true, estimated = _answers(boxes, published, schema, known)
    widths = mean_widths(boxes, dict(schema.attributes()))
    by_column = dict(_errors_by_column(boxes, published, schema, known))
    by_one = [one for some, one in by_column.items() if len(some) == 1]
    by_one = by_one or [relative_errors(true, estimated, len(known))]
    return Usefulness(
        groups=len(sizes),
        mean_group=tuples / max(1, len(sizes)),
        counterfeits=counterfeits,
        held_back=len(known) - (tuples - counterfeits),
        widths=widths,
        shares={column: widths[column] / domain_width(qi) for column, qi in schema.attributes()},
        discernibility=discernibility(sizes["size"].to_numpy()),
        query_error=workload_error(true, estimated, len(known)),
        median_error=float(np.median(np.concatenate(by_one))),
        error_without=workload_error(true, _counts_without(known, workload, schema), len(known)),
        errors_by_column={", ".join(some): float(one.mean()) for some, one in by_column.items()},
    )


def _errors_by_column(
    boxes: pl.DataFrame, published: Published, schema: Schema, known: pl.DataFrame
) -> Iterator[tuple[tuple[str, ...], Floats]]:
    """Names of columns, and the errors of counts by one of several, or by two of more."""
    names = [column.name for column in schema.sensitive.columns]
    for number in range(1, min(len(names), 3)):
        for some in itertools.combinations(names, number):
            fewer, people = with_fewer_columns(published, known, schema.sensitive, some)
            yield some, relative_errors(*_answers(boxes, fewer, schema, people)[1:], len(known))


def _answers(
    boxes: pl.DataFrame, published: Published, schema: Schema, known: pl.DataFrame
) -> tuple[Workload, Ints, Floats]:
    """The random queries, their true answers and those estimated from the release."""
    workload = workload_of_people(schema, known, QUERIES, WIDTH, np.random.default_rng(0))
    return workload, true_counts(known, workload), grouped_counts(boxes, published, workload, schema)


def grouped_counts(boxes: pl.DataFrame, published: Published, workload: Workload, schema: Schema) -> Floats:
    """float64[Q]: the answers estimated from groups, generalized or anatomized.

    Within a group, who has which value is not known: the share of its rows that lie in the query is taken of
    the tuples with the value that is asked for. `boxes` has `group_id`, `qi_0_low`, `qi_0_high`, … as codes,
    and `rows`: how many of the group's rows have this box. People whose value is missing lie in no interval.
    """
    attributes = dict(schema.attributes())
    ids = published.sizes["group_id"].sort()
    place = pl.DataFrame({"group_id": ids, "place": np.arange(len(ids))})
    placed = boxes.join(place, on="group_id")
    group, rows = placed["place"].to_numpy(), placed["rows"].to_numpy()
    of_group = np.maximum(np.bincount(group, rows, minlength=len(ids)), 1)
    held = published.values.join(place, on="group_id")
    ends = {
        column: [placed[f"{column}_{end}"].cast(pl.Float64).to_numpy() for end in ("low", "high")]
        for column in workload.columns
    }
    missing = {
        column: published.shares_missing(placed, column)
        for column in workload.columns
        if attributes[column].publishes_missing
    }
    answers = np.zeros(len(workload.value))
    for value, part in workload.of_each_value(held).items():
        holding, tuples = (part[name].to_numpy() for name in ("place", "tuples"))
        # Only the groups with the value count.
        has_value = np.zeros(len(ids), dtype=bool)
        has_value[holding] = True
        own = np.flatnonzero(has_value[group])
        of_value = {column: [end[own] for end in both] for column, both in ends.items()}
        for query in (at for at, one in enumerate(workload.value) if one == value):
            share = rows[own].astype(float)
            for position, column in enumerate(workload.columns):
                asked = workload.low[query, position], workload.high[query, position]
                low, high = of_value[column]
                share = share * overlap(low, high, *asked, int(attributes[column].discrete))
                if attributes[column].publishes_missing:
                    share = share * (1 - missing[column][own])
            inside = np.bincount(group[own], share, minlength=len(ids)) / of_group
            answers[query] = (inside[holding] * tuples).sum()
    return answers


def _boxes(main: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`group_id`, `qi_0_low`, … as codes, `rows`: exact quasi-identifiers are boxes of no width."""
    ends = [
        encode(pl.col(end if (end := f"{column}_{side}") in main.columns else column), qi).alias(
            f"{column}_{side}"
        )
        for column, qi in schema.attributes()
        for side in ("low", "high")
    ]
    without = [name for column, _ in schema.attributes() if (name := f"{column}_missing") in main.columns]
    boxes = main.select(pl.col("group_id").cast(pl.Int64), *ends, *without)
    return boxes.group_by(boxes.columns).len("rows").sort(boxes.columns)


def mean_widths(boxes: pl.DataFrame, attributes: Mapping[str, QuasiIdentifier]) -> dict[str, float]:
    """The number of values that the boxes cover on average over their rows, by column.

    A missing value is one more value where some of a group's people have it and some do not. `boxes` has
    `qi_0_low`, `qi_0_high`, … as codes, and `rows`: how many have this box.
    """
    rows = pl.col("rows").cast(pl.Float64)
    # Sums over all people of widths of up to 2 ** 54 exceed 64 bits.
    means = boxes.select(
        ((covered_values(column, qi, boxes) * rows).sum() / rows.sum()).alias(column)
        for column, qi in attributes.items()
    )
    return {column: float(means[column][0] or 0.0) for column in means.columns}


def covered_values(column: str, attribute: QuasiIdentifier, boxes: pl.DataFrame) -> pl.Expr:
    """The number of values that a box covers, the missing one included; of fractions the length."""
    width = (pl.col(f"{column}_high") - pl.col(f"{column}_low")).fill_null(0) + int(attribute.discrete)
    if not attribute.discrete or f"{column}_missing" not in boxes.columns:
        return width
    mixes = (pl.col(f"{column}_missing") > 0) & pl.col(f"{column}_low").is_not_null()
    return width + mixes.cast(pl.Int64)


def information_lost(widths: Mapping[str, float], attributes: Mapping[str, QuasiIdentifier]) -> float:
    """The normalized certainty penalty: 0 where every value is published exactly, 1 where nothing is said.

    References
    ----------
    Xu and others, Utility-based anonymization using local recoding, KDD 2006, section 2.
    """
    units = {column: int(attribute.discrete) for column, attribute in attributes.items()}
    lost = [
        (widths[column] - units[column]) / ((domain_width(attribute) - units[column]) or 1)
        for column, attribute in attributes.items()
    ]
    return sum(lost) / len(lost)


def domain_width(attribute: QuasiIdentifier) -> float:
    """The number of values that an attribute's domain has; of fractions its length, and 1 where that is 0.

    A missing value that is published is one of them.
    """
    lowest, highest = code_domain(attribute)
    width = (highest - lowest + int(attribute.discrete)) or 1
    is_one_more = attribute.publishes_missing and not isinstance(attribute, CategoryColumn)
    return width + int(attribute.discrete and is_one_more)


def _counts_without(known: pl.DataFrame, workload: Workload, schema: Schema) -> Floats:
    """The answers of somebody for whom people are spread evenly over all domains."""
    people = dict(known.group_by(VALUE).len().iter_rows())
    tuples: Ints = np.array([people.get(value, 0) for value in workload.value])
    return share_of_domains(workload, dict(schema.attributes())) * tuples


def share_of_domains(workload: Workload, attributes: Mapping[str, QuasiIdentifier]) -> Floats:
    """float64[Q]: which share of all there can be each query asks for, over the attributes by column."""
    share = np.ones(len(workload.value))
    for position, column in enumerate(workload.columns):
        asked = workload.high[:, position] - workload.low[:, position] + int(attributes[column].discrete)
        share = share * asked / domain_width(attributes[column])
    return share
