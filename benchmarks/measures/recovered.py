"""Quasi-identifiers that are recovered from intervals alone, with and without the grid of `min_width`.

An adversary who has nothing but the release takes each end of an interval for the value of one person in its
group (downcoding: Cohen, Attacks on deidentification's defenses, USENIX Security 2022). *Exact* are the
values of people in whose group everybody has the same. *Recovered* are these and one for each other end that
is right: values that somebody in the group has, though not who. *True ends* are the ends that are right: of
minimal intervals all, and on a grid those that are somebody's value by chance, of which the adversary does
not know which they are. Each audit states the three, of all quasi-identifiers together.

The second table is of people who get a year older with each release. The adversary follows a group that is
the only one with its values, its town, and ages in cells at most one further up. If one of its ends has
moved, somebody came to the new cell's first year, unless the people are others. *Right* are the ends of which
somebody of the group has exactly this age; all ends of these releases are beside it. A year of birth stays,
and so do its ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl

from benchmarks.measures.ends import tables_to_try, with_widths
from benchmarks.measures.estimates import last
from benchmarks.series import Made, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.measures.recovered import recover
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.formats.published import knowledge_table

QUICK = {"people": 300, "releases": 1}
HEADINGS = ("", "min_width", "exact", "recovered", "true ends")
OLDER = ("min_width", "groups followed", "ends that moved", "right", "all ends that are right")


def tables(people: int = 10_000, releases: int = 3) -> Iterator[Table]:
    """Of the last of so many releases, each quasi-identifier by itself."""
    rows: dict[tuple[str, int], list[str]] = {}
    for name, declared, snapshots, several in tables_to_try(people, releases):
        table = name.partition(",")[0]
        for widths in several:
            made = last(snapshots, with_widths(declared, widths))
            known = knowledge_table(made.people.rename({IDENTIFIER: "person"}), made.contract)
            for column, attribute in made.contract.attributes():
                if widths and attribute.name not in widths:
                    continue
                boxes = made.read.boxes.select("group_id", pl.col(f"^{column}_(low|high|missing)$"))
                found = recover(known, replace(made.read, boxes=boxes), made.linkage)
                assert found is not None
                row = (f"{table}, {attribute.name}", widths.get(attribute.name, 0))
                rows.setdefault(row, [f"{share:.1%}" for share in (found.exact, found.by_ends, found.ends)])
    shown = [[name, str(width or "none"), *shares] for (name, width), shares in sorted(rows.items())]
    yield Table(f"Release {releases} of {people:,} people", HEADINGS, shown)
    live, more = people // 5, releases + 2
    older = [[width, *_of_older_people(live, more, width)] for width in (5, 10)]
    yield Table(f"{more} releases of {live:,} people who get older", OLDER, older)


def _of_older_people(people: int, releases: int, width: int) -> tuple[int, int, str, str]:
    """Count groups that are followed, their ends that moved, and how many of these and of all are right."""
    draw = np.random.default_rng(5)
    everybody = pl.DataFrame(
        {
            "person": np.arange(2 * people),
            "age": draw.integers(18, 80, 2 * people),
            "town": draw.choice(list("abcdefghij"), 2 * people),
            "illness": draw.choice(list("stuvwxyz"), 2 * people),
        }
    ).cast({"person": pl.String})
    contract = contract_of(
        {
            "product": "older", "series": "v1", "identifier": "person",
            "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 119], "min_width": width},
                {"name": "town", "kind": "category", "order": list("abcdefghij")},
            ],
            "sensitive": {"name": "illness"},
            "principle": {"name": "m_invariance", "m": 3, "on_ineligible": "wait"},
        }
    )  # fmt: skip
    series = (
        (date, snapshot.with_columns(pl.col("age") + year))
        for year, (date, snapshot) in enumerate(dynamic_series(everybody, people, people // 20, releases, 5))
    )
    groups = [_groups(made) for made in released(series, contract)]
    followed = pl.concat([_followed(*two, width) for two in pairwise(groups)])
    moved = pl.concat(
        [
            followed.filter(pl.col("low") > pl.col("low_before")).select("ages", age="low"),
            followed.filter(pl.col("high") > pl.col("high_before")).select(
                "ages", age=pl.col("high_before") + 1
            ),
        ]
    )
    ends = pl.concat([one.select("ages", age=end) for one in groups for end in ("low", "high")])
    right = (one.select(pl.col("age").is_in("ages").mean()).item() or 0.0 for one in (moved, ends))
    return len(followed), len(moved), *(f"{share:.0%}" for share in right)


def _groups(made: Made) -> pl.DataFrame:
    """List groups: `content` (values and towns), `low`, `high`, and `ages`, those of the people in truth."""
    values = made.read.values.group_by("group_id").agg(content=pl.col(VALUE).sort().str.join(" "))
    own = made.people.select(pl.col("qi_0").alias("ages"), person=IDENTIFIER).join(made.linkage, on="person")
    boxes = made.read.boxes.select(
        "group_id", pl.concat_str("qi_1_low", "qi_1_high").alias("towns"), low="qi_0_low", high="qi_0_high"
    )
    ages = own.group_by("group_id").agg("ages")
    every = boxes.join(values, on="group_id").join(ages, on="group_id")
    return every.select("low", "high", "ages", content=pl.concat_str("content", "towns"))


def _followed(before: pl.DataFrame, now: pl.DataFrame, width: int) -> pl.DataFrame:
    """The groups of a release that look like one group of the release before, a cell older at most."""
    pairs = now.with_row_index("one").join(
        before.with_row_index("other").drop("ages"), on="content", suffix="_before"
    )
    older = (pl.col(end) - pl.col(f"{end}_before") for end in ("low", "high"))
    alike = pairs.filter(*(years.is_between(0, width) for years in older))
    return alike.filter(pl.col("one").is_unique() & pl.col("other").is_unique())


if __name__ == "__main__":
    main(tables)
