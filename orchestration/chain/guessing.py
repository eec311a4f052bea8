"""What is guessed right of a candidate by who learns from its groups and those of the releases before.

It is measured where the contract bounds it (`expect.guessed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.measures.guessing import Clues, Guesses, guess_values
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.contract import Product, Schema
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principles import principle_of

CLUES = "clues_"
"""What the tables of clues are called among what is known of a series."""


def guessed(
    candidate: Candidate, people: pl.DataFrame, contract: Product, clues: Clues | None
) -> Guesses | None:
    """What is guessed right of T(n), with the `clues` of the releases before; None if nobody is in it."""
    assert isinstance(contract, Schema)
    release_format = principle_of(contract).format(contract)
    published = release_format.read(release_format.internal(candidate.published, contract), contract)
    known = knowledge_table(people.rename({PSEUDONYM: "person"}), contract)
    hosts = candidate.linkage.rename({PSEUDONYM: "person"})
    return guess_values(known, published, contract, hosts, clues)


def without_clues(knowledge: Knowledge | None) -> tuple[Knowledge | None, Clues | None]:
    """What attacks on promises know, and the clues that were kept beside it."""
    if knowledge is None:
        return None, None
    parts: Mapping[str, pl.DataFrame] = knowledge.parts
    kept = {name.removeprefix(CLUES): table for name, table in parts.items() if name.startswith(CLUES)}
    rest = {name: table for name, table in parts.items() if not name.startswith(CLUES)}
    others = replace(knowledge, parts=rest)
    if not kept:
        return others, None
    return others, Clues(**kept)


def with_clues(knowledge: Knowledge, guesses: Guesses | None) -> Knowledge:
    """What is known of a series with the clues of its last release, of the people who are in it."""
    if guesses is None or guesses.clues is None:
        return knowledge
    hosts, said = guesses.clues.hosts, guesses.clues.said
    present = said.join(hosts, on="person", how="semi", maintain_order="left")
    tables = {f"{CLUES}hosts": hosts, f"{CLUES}said": present}
    return replace(knowledge, parts={**knowledge.parts, **tables})
