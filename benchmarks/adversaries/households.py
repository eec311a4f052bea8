"""What is learned by who knows that people of a household have one value.

A made-up census in households of two or of four people, who all have one value, as an infection or a flat may
be; one release of m-invariance. The adversary knows who lives together and everybody's group, and that a
household has one value: it is one of the values that all its people's groups have. *Certain* is the share of
households of which one value is left. Nothing is promised about that, unless a contract takes the household
for the person, and its people for rows (`rows: several`).

The second table has an adversary who also knows the algorithm, and how many households have each value. Four
households of two are released under every way to deal these values to them, and under many keys each; the
largest probability that any household has some value, after any release, is exact but for the keys being a
sample. With the household as identifier, what is above 1/2 shrinks as keys are added (0.585 with 60, 0.525
with 200); nothing is promised about this adversary.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from benchmarks.adversaries.every_table import worst_posterior
from benchmarks.census import census, census_contract
from benchmarks.series import contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE
from republish.anonymize.errors import NotEligible

QUICK = {"people": 200, "m": (3,), "keys": 1}
VALUES = "abcd"


def tables(people: int = 20_000, m: tuple[int, ...] = (4, 8), keys: int = 600) -> Iterator[Table]:
    """Two tables: how many values are left of each household, and which are likely to who knows the code."""
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
    dealt = [
        [" ".join(VALUES[one] for one in values), words, float(_replayed(values, keys, is_person=is_person))]
        for values in ((0, 0, 1, 1), (0, 0, 1, 2), (0, 1, 2, 3))
        for is_person, words in ((False, "each of them"), (True, "the household"))
    ]
    yield Table(
        f"Four households of two, m = 2, every table and {keys} keys",
        ("values of the households", "the identifier is of", "largest probability"),
        dealt,
    )


def _replayed(values: tuple[int, ...], keys: int, *, is_person: bool) -> Fraction:
    """The largest probability of a household's value to whoever runs the code on every table."""
    declared = {
        "product": "flats",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
        "sensitive": {"name": "disease", "values": list(VALUES)},
    }
    principle: dict[str, Any] = {"name": "m_invariance", "m": 2}
    if is_person:
        declared |= {"identifier": "household", "rows": "several", "row": "person"}
        principle["values_per_person"] = 1
    contract = contract_of(declared, **principle)
    people = pl.DataFrame({"person": range(2 * len(values))}).with_columns(
        household=pl.col("person") // 2, age=pl.col("person") * 31 % 97
    )

    def publish(color: np.ndarray, key: bytes) -> Hashable:
        """Who is together, and which values they have: as much as is published, at most."""
        disease = pl.Series([VALUES[one] for one in color.repeat(2)])
        try:
            (made,) = released([("2020-01-01", people.with_columns(disease=disease))], contract, key)
        except NotEligible:
            return "refused"
        held = made.read.values.group_by("group_id").agg(pl.col(VALUE).sort())
        persons = made.people.select("pseudonym", person="row_name" if is_person else "identifier")
        hosted = made.candidate.linkage.join(persons, on="pseudonym").group_by("group_id")
        groups = hosted.agg(pl.col("person").sort()).join(held, on="group_id")
        return frozenset(
            (tuple(who), tuple(what)) for who, what in groups.select("person", VALUE).iter_rows()
        )

    every_key = [b"key %d" % number for number in range(keys)]
    return worst_posterior(publish, values, lambda _: every_key)


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
