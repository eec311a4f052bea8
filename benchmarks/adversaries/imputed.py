"""Guessing by tables of `impute --model`, beside the audit's attack that learns from groups.

Who has a first release with exact quasi-identifiers and knows everybody's group can make tables of people as
they may be, and guess of each person the value that most of them say. The audit states what is guessed right
by an attack of its own, which learns from the groups of one release and simulates none. *Right* is the share
of people who are guessed right, and *of the surest* that of the twentieth of whom the adversary is surest.
The *standard error* is that of what the audit's attack guesses right. None of it is promised: it is what
groups show of everybody, and each audit states it.

On no data set of thirty do imputed tables guess more people right than the audit's attack by more than 1.1 of
its standard errors; on ten they guess fewer right by more than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import polars as pl

from benchmarks.measures.associations import CHOSEN_ON, HELD_OUT, NEW, Made, is_here
from benchmarks.measures.estimates import last
from benchmarks.measures.estimator import DATE
from benchmarks.tables import Table, main
from republish.anonymize.attack.measures.guessing import guess_values
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.formats import ANATOMY
from republish.anonymize.formats.published import knowledge_table
from republish.orchestration.readers.associations import learned_of

QUICK = {"most": 300, "copies": 2, "words": ("a second hospital",)}
FEW_VALUES = 20
"""Of a table with more values the model tells nothing."""


def guessed(made: Made, most: int, copies: int) -> list[float] | None:
    """The row of a table, but for its name; None of one with very many values."""
    people, contract, _ = made
    if people[contract.sensitive.name].n_unique() > FEW_VALUES:
        return None
    release = last([(DATE, people.sample(min(most, people.height), seed=1))], contract)
    known = release.people.rename({IDENTIFIER: "person"})
    audit = guess_values(knowledge_table(known, contract), release.read, contract, release.linkage)
    assert audit is not None
    tables, random = ANATOMY.internal(release.candidate.published, contract), np.random.default_rng(1)
    columns = [column for column, _ in contract.attributes()]
    learned = learned_of(tables, contract, [one.name for _, one in contract.attributes()], random)
    dealt = list(islice(learned.dealings(contract, random), copies))
    says = [np.mean([one == value for one in dealt], axis=0) for value in range(len(learned.values))]
    rows = tables["quasi_identifiers"].select(pl.col("group_id").cast(pl.Int64), *columns)
    # Whose row of the group is whose is known but for people who are alike.
    rows = rows.with_columns(pl.Series(f"says_{value}", says) for value, says in enumerate(says))
    rows = rows.group_by("group_id", *columns).agg(pl.col("^says_.*$").mean())
    linked = known.join(release.linkage, on="person").with_columns(pl.col("group_id").cast(pl.Int64))
    each = linked.join(rows, on=["group_id", *columns], how="left", nulls_equal=True, maintain_order="left")
    often = each.select(pl.col("^says_.*$")).to_numpy()
    right = (learned.values.gather(often.argmax(axis=1)) == each[VALUE]).to_numpy()
    surest = right[np.argsort(-often.max(axis=1), kind="stable")][: max(1, len(right) // 20)]
    return [audit.at_random, audit.learned, audit.error, right.mean(), audit.surest_twentieth, surest.mean()]


def tables(most: int = 4_000, copies: int = 20, words: tuple[str, ...] = ("",)) -> Iterator[Table]:
    """So many people at most of each table whose name has one of the words, and imputed tables of them."""
    rows = [
        [name, *(f"{share:.1%}" for share in row)]
        for name, make in (CHOSEN_ON | HELD_OUT | NEW).items()
        if any(word in name for word in words) and is_here(name)
        if (row := guessed(make(), most, copies)) is not None
    ]
    headings = (
        *("table", "at random", "audit: right", "standard error", "by tables: right"),
        *("audit: of the surest", "by tables: of the surest"),
    )
    yield Table("Guessed right, everybody's group known", headings, rows)


if __name__ == "__main__":
    main(tables)
