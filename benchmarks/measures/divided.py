"""What dividing people into shards costs: intervals, counterfeits and errors.

Made-up census people under m-invariance (m = 10), one tenth of them replaced before the second release. NCP
is the share of its domain that an interval covers; the error is the median over 200 random counts that are
estimated from the release, each of people around somebody who is in the table.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from benchmarks.census import census_contract, census_series
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.series import Made, contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.formats import Published
from republish.anonymize.formats.format import Tables
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.principles import principle_of
from republish.anonymize.utility.usefulness import usefulness
from republish.orchestration.series.shards import shard_numbers

QUICK = {"people": 4_000, "shards": (1, 2)}
HEADINGS = ("", "groups", "counterfeits", "NCP", "median error")


def tables(people: int = 4_000_000, shards: tuple[int, ...] = (1, 4, 16), seed: int = 1) -> Iterator[Table]:
    """A row for each release of each number of shards."""
    contract = contract_of(
        census_contract(), name="m_invariance", m=10, on_ineligible="counterfeit", people_per_group=2
    )
    update = people // 10
    series = list(census_series(people + update, people, update, 2, "occupation", seed))
    rows = []
    for number in shards:
        parts = [
            (date, snapshot.partition_by("shard", as_dict=True, include_key=False))
            for date, snapshot in (
                (date, one.with_columns(shard_numbers(one["person_id"], b"a key", number)))
                for date, one in series
            )
        ]
        made = [
            list(released([(date, some[(at,)]) for date, some in parts], contract, b"shard %d" % at))
            for at in range(number)
        ]
        for release, several in enumerate(zip(*made, strict=True), start=1):
            of = "1 shard" if number == 1 else f"{number} shards"
            rows.append([f"{of}, release {release}", *figures(several)])
            print(*rows[-1], flush=True)
    yield Table(f"{people:,} people, {update:,} replaced", HEADINGS, rows)


def figures(shards: tuple[Made, ...]) -> tuple[int, int, float, float]:
    """Groups, counterfeits, NCP and median error of the release that shards are together."""
    contract = shards[0].contract
    release_format = principle_of(contract).format(contract)
    whole = _together([made.candidate.published for made in shards])
    internal = release_format.internal(whole, contract)
    read: Published = release_format.read(internal, contract)
    known = knowledge_table(
        pl.concat([made.people.with_columns(person=pl.col("identifier")) for made in shards]), contract
    )
    found = usefulness(release_format, internal, read, contract, known)
    penalty = normalized_certainty_penalty(read.boxes, read.sizes, contract)
    return found.groups, found.counterfeits, penalty, found.median_error


def _together(parts: list[Tables]) -> dict[str, pl.DataFrame]:
    """The tables of shards as those of one release, with one numbering of groups."""
    above, moved = 0, []
    for tables_of_one in parts:
        number = pl.col("group_id") + above
        moved.append({name: table.with_columns(number) for name, table in tables_of_one.items()})
        above += max(int(table["group_id"].max() or 0) for table in tables_of_one.values())  # type: ignore[arg-type]
    return {name: pl.concat([one[name] for one in moved]) for name in parts[0]}


if __name__ == "__main__":
    main(tables)
