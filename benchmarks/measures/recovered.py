"""Quasi-identifiers that are recovered from intervals alone, with and without the grid of `min_width`.

An adversary who has nothing but the release takes each end of an interval for the value of one person in its
group (downcoding: Cohen, Attacks on deidentification's defenses, USENIX Security 2022). *Exact* are the
values of people in whose group everybody has the same. *Recovered* are these and one for each other end that
is right: values that somebody in the group has, though not who. *True ends* are the ends that are right: of
minimal intervals all, and on a grid those that are somebody's value by chance, of which the adversary does
not know which they are. Each audit states the three, of all quasi-identifiers together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from benchmarks.measures.ends import tables_to_try, with_widths
from benchmarks.measures.estimates import last
from benchmarks.tables import Table, main
from republish.anonymize.attack.measures.recovered import recover
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.formats.published import knowledge_table

QUICK = {"people": 300, "releases": 1}
HEADINGS = ("", "min_width", "exact", "recovered", "true ends")


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


if __name__ == "__main__":
    main(tables)
