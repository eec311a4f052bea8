"""Missing values in each of eight quasi-identifiers.

Made-up census people with eight quasi-identifiers of every kind. In one table everybody has a value of
each; in the others each value is missing by chance, and `missing: publish` publishes it so. Each release
replaces a tenth of the people; figures are means over the releases. NCP is the share of its domain that an
interval covers, over all values that are known; "by" is its ratio to that of the table without missing
values. "One more" is the NCP over everybody where a missing value counts as one more value of the domain, so
that an interval of people with and without a value covers one value more. "Mixed" is the share of people,
over the columns, in groups that have people with and without a value of it. The error is the median over 500
counts of people with one sensitive value and two quasi-identifiers in half of their domains, as if people
were spread evenly over their intervals.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import DOMAINS, census, census_contract
from benchmarks.series import Made, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.people.codes import MISSING_CODE, code_domain, encode_columns
from republish.anonymize.utility.queries import random_workload, relative_errors, true_counts
from republish.anonymize.utility.usefulness import grouped_counts, information_lost, mean_widths

QUICK = {"people": 400, "releases": 1}
COLUMNS: tuple[dict[str, Any], ...] = (
    *(
        {"name": name, "kind": "number", "domain": list(DOMAINS[name])}
        for name in ("age", "education", "birthplace")
    ),
    {"name": "sex", "kind": "category", "order": ["F", "M"]},
    {"name": "region", "kind": "category", "order": [f"region {number}" for number in range(16)]},
    {"name": "hours", "kind": "number", "domain": [1, 99]},
    {"name": "since", "kind": "date", "domain": ["2010-01-01", "2019-12-31"]},
    {"name": "distance", "kind": "number", "domain": [0.0, 100.0]},
)
PRINCIPLES: dict[str, dict[str, Any]] = {
    "m_invariance, best": {"name": "m_invariance", "m": 4},
    "m_invariance, fast": {"name": "m_invariance", "m": 4, "effort": "fast"},
    "m_invariance, m = 10": {"name": "m_invariance", "m": 10},
    "global_guarantee": {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 4},
    "streamliner, gda": {"name": "streamliner", "l": 4, "method": "gda"},
}
HEADINGS = ("principle", "missing", "groups", "NCP", "by", "one more", "mixed", "median error")
QUERIES, ASKED = 500, 2


def tables(
    people: int = 20_000, releases: int = 3, missing: tuple[float, ...] = (0.05, 0.2)
) -> Iterator[Table]:
    """A row for each principle and share of missing values."""
    whole = made_up(people + people // 10 * (releases - 1))
    rows = []
    for name, principle in PRINCIPLES.items():
        without = None
        for share in (0.0, *missing):
            declared = contract_of(_declared(publishes_missing=share > 0), **principle)
            several = 1 if principle["name"] == "streamliner" else releases
            table = with_missing(whole, share)
            series = dynamic_series(table, people, people // 10, several, 1)
            figures = np.mean([list(_measured(made)) for made in released(series, declared)], axis=0)
            groups, loss, one_more, mixed, error = figures
            without = loss if without is None else without
            rows.append(
                (
                    name,
                    f"{share:.0%}",
                    round(groups),
                    loss,
                    f"{loss / without:.2f}",
                    one_more,
                    f"{mixed:.1%}",
                    f"{error:.1%}",
                )
            )
    yield Table(f"{people:,} people in {releases} releases", HEADINGS, rows)


def made_up(people: int) -> pl.DataFrame:
    """People of the census with four quasi-identifiers more, which nothing goes with."""
    rng = np.random.default_rng(1)
    days = [dt.date(2010, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 3652, people)]
    return census(people).select(
        "person_id",
        "age",
        "education",
        "birthplace",
        pl.col("gender").replace_strict({1: "F", 2: "M"}, return_dtype=pl.String).alias("sex"),
        pl.Series("region", [f"region {number}" for number in rng.integers(0, 16, people)]),
        pl.Series("hours", np.clip(rng.normal(40, 12, people).round(), 1, 99).astype(np.int64)),
        pl.Series("since", days, dtype=pl.Date),
        pl.Series("distance", np.minimum(rng.exponential(12, people), 100).round(1)),
        "occupation",
    )


def with_missing(table: pl.DataFrame, share: float) -> pl.DataFrame:
    """The table with such a share of the values of each quasi-identifier missing, by chance."""
    rng = np.random.default_rng(2)
    known = {one["name"]: pl.Series(rng.random(len(table)) >= share) for one in COLUMNS}
    return table.with_columns(pl.when(known[name]).then(pl.col(name)).alias(name) for name in known)


def _declared(*, publishes_missing: bool) -> dict[str, Any]:
    rule = {"missing": "publish"} if publishes_missing else {}
    return {**census_contract(), "quasi_identifiers": [{**one, **rule} for one in COLUMNS]}


def _measured(made: Made) -> Iterator[float]:
    """Groups; NCP over known values, and with missing ones as one more; the share in mixed groups; error."""
    schema, read = made.contract, made.read
    boxes = read.boxes.join(read.sizes.rename({"size": "rows"}), on="group_id")
    yield float(boxes.height)
    lost = known = mixed = 0.0
    for column, attribute in schema.attributes():
        low, high = (boxes[f"{column}_{end}"].cast(pl.Float64).to_numpy() for end in ("low", "high"))
        people = boxes["rows"].to_numpy() * (1 - read.shares_missing(boxes, column))
        lowest, highest = code_domain(attribute)
        lost += float(((high - low) * people).sum()) / (highest - lowest)
        known += float(people.sum())
        some = (people < boxes["rows"].to_numpy() - 1e-9) & (low != MISSING_CODE)
        mixed += float(boxes["rows"].to_numpy()[some].sum()) / boxes["rows"].sum() / len(COLUMNS)
    yield lost / known
    attributes = dict(schema.attributes())
    yield information_lost(mean_widths(boxes, attributes), attributes)
    yield mixed
    yield _error(made, boxes)


def _error(made: Made, boxes: pl.DataFrame) -> float:
    schema: Contract[Any] = made.contract
    people = encode_columns(made.people, schema).with_columns(made.people[VALUE])
    names, rng = [column for column, _ in schema.attributes()], np.random.default_rng(0)
    values, errors = people[VALUE].unique().sort(), []
    for _ in range(10):
        some = [names[at] for at in rng.choice(len(names), ASKED, replace=False)]
        workload = random_workload(schema, some, values, QUERIES // 10, 0.5, rng)
        true, found = true_counts(people, workload), grouped_counts(boxes, made.read, workload, schema)
        errors.append(relative_errors(true, found, people.height, 0.001))
    return float(np.median(np.concatenate(errors)))


if __name__ == "__main__":
    main(tables)
