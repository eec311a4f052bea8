"""What is learned by who knows that people of a household have one value.

A made-up census in households of two or of four people, who all have one value, as an infection or a flat may
be; one release of m-invariance. The adversary knows who lives together and everybody's group, and that a
household has one value: it is one of the values that all its people's groups have. *Certain* is the share of
households of which one value is left. Nothing is promised about that, unless a contract takes the household
for the person, and its people for rows (`rows: several`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import census, census_contract
from benchmarks.series import contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE

QUICK = {"people": 400, "m": (3,)}


def tables(people: int = 20_000, m: tuple[int, ...] = (4, 8)) -> Iterator[Table]:
    """One table: each m, size of households, and whether they have one value."""
    rows = []
    for least in m:
        for size in (2, 4):
            for is_person in (False, True):
                left = _left(people, least, size, is_person=is_person)
                certain = np.mean([one == 1 for one in left])
                words = "the household" if is_person else "each of them"
                rows.append([least, size, words, f"{np.mean(left):.2f}", f"{certain:.1%}"])
    yield Table(
        f"{people} people, one release",
        ("m", "people of a household", "the identifier is of", "values left", "certain"),
        rows,
    )


def _left(people: int, m: int, size: int, *, is_person: bool) -> list[int]:
    """How many values are left of each household."""
    everybody, first = census(people, 1).drop("income"), np.arange(people) // size * size
    everybody = everybody.with_columns(
        occupation=everybody["occupation"].gather(first), household=pl.Series(first)
    )
    declared = census_contract(m)
    principle: dict[str, Any] = {"name": "m_invariance", "m": m, "on_ineligible": "wait"}
    if is_person:
        declared |= {"identifier": "household", "rows": "several", "row": "person_id"}
        principle["values_per_person"] = 1
    contract = contract_of(declared, **principle)
    (made,) = released([("2020-01-01", everybody)], contract)
    held = made.read.values.group_by("group_id").agg(pl.col(VALUE))
    home = pl.col("person").cast(pl.Int64) // size * size
    hosted = made.linkage.with_columns(home).join(held, on="group_id").with_row_index("row")
    counted = hosted.explode(VALUE).group_by("person", VALUE).agg(pl.col("row").n_unique())
    members = hosted.group_by("person").len("members")
    common = counted.join(members, on="person").filter(pl.col("row") == pl.col("members"))
    return members.join(common.group_by("person").len("left"), on="person", how="left")["left"].to_list()


if __name__ == "__main__":
    main(tables)
