"""The audit of a candidate: an independent count of what was promised, and the attacks on it.

It decides inside the chain: a candidate that breaks a promise is not committed, so nothing is built on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from anonymize.attack.audit import Knowledge, ReleaseAudit, audit_release
from anonymize.candidate import Candidate
from anonymize.contract import Contract, MInvariance
from anonymize.state import State
from orchestration.expectations import Verdict, judge
from orchestration.principles import principle_of

ATTACK = "attack"
"""The promise, check and suite of what an adversary is left with."""
_KEPT_AS = "knowledge-"


@dataclass(frozen=True)
class Audit:
    """What was found on a candidate."""

    evidence: Mapping[str, pl.DataFrame]
    """A table of counts per promise."""
    verdicts: list[Verdict]
    """What the suites say to it."""
    figures: Mapping[str, float]
    """What the attacks came to: candidates left, people vulnerable."""
    knowledge: Knowledge
    """What an adversary remembers of the series: for the audit of the next release."""


def audit(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract,
    number: int,
    knowledge: Knowledge | None,
    weakest_m: int,
) -> Audit:
    """Count, attack and judge a candidate.

    Parameters
    ----------
    candidate
        As the principle made it.
    people
        T(n), with pseudonyms.
    before
        The state it was made on.
    contract
        What is promised.
    number
        n, counted from 1.
    knowledge
        What the audit of the release before left, or None.
    weakest_m
        The smallest m of the series so far: what people of earlier releases were promised. That whoever
        is new is among at least the present m is counted apart.
    """
    principle = principle_of(contract)
    with ThreadPoolExecutor(1) as beside:
        attacked = beside.submit(_attack, candidate, people, contract, number, knowledge, weakest_m)
        evidence = principle.evidence(candidate.published, candidate.linkage, people, before, contract)
        found = attacked.result()
    evidence = {**evidence, ATTACK: found.evidence}
    verdicts = judge(evidence, principle.parameters(contract, candidate.figures))
    return Audit(
        evidence=evidence,
        verdicts=[_naming_promises(verdict, found.evidence) for verdict in verdicts],
        figures={name: figure for name, figure in found.figures.items() if figure is not None},
        knowledge=_of_the_present(found.knowledge, number),
    )


def read_knowledge(folder: Path, files: Iterable[str]) -> Knowledge | None:
    """What the audit of a release left among the files of its private folder, or None."""
    kept = {
        name.removeprefix(_KEPT_AS).removesuffix(".parquet"): pl.read_parquet(folder / name)
        for name in files
        if name.startswith(_KEPT_AS)
    }
    return Knowledge(**kept) if kept else None


def knowledge_tables(knowledge: Knowledge) -> dict[str, pl.DataFrame]:
    """The tables to be kept, by file name without its ending."""
    return {f"{_KEPT_AS}{name}": table for name, table in knowledge.frames().items()}


def _naming_promises(verdict: Verdict, attacked: pl.DataFrame) -> Verdict:
    """The verdict on the attack with the promises that it broke, and for how many."""
    if verdict.promise != ATTACK or verdict.passed:
        return verdict
    broken = attacked.filter(~pl.col("holds")).select("promise", "broken", "people").iter_rows()
    named = [f"{promise} is broken for {count} of {people}." for promise, count, people in broken]
    return replace(verdict, broken=named or verdict.broken)


def _attack(candidate, people, contract, number, knowledge, weakest_m) -> ReleaseAudit:
    # Whether there is a smaller equivalence attack than e is NP-hard to say. In the chain the cuts answer for
    # it (the evidence `cuts`); the attack itself is for `republish audit`, which has the time.
    own = contract.principle.model_dump(include=set(MInvariance.model_fields))
    promised = MInvariance(**own | {"name": "m_invariance", "m": weakest_m})
    return audit_release(
        contract.model_copy(update={"principle": promised}),
        candidate.published,
        people,
        number,
        knowledge,
        linkage=candidate.linkage,
        held_back=candidate.figures["held_back"],
        person="pseudonym",
    )


def _of_the_present(knowledge: Knowledge, number: int) -> Knowledge:
    """Without those who left: of the departed nothing is kept but pseudonym, bucket and releases.

    Should they return, the evidence of invariance compares signatures over all their stays.
    """
    parts = {
        part: table.filter(pl.col("until") == number)
        for part in ("covered", "hosted")
        if (table := getattr(knowledge, part)) is not None
    }
    return replace(knowledge, **parts)
