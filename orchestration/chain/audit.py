"""The audit of a candidate: the attacks on it, and what Great Expectations says to what they counted.

It decides inside the chain: a candidate that breaks a promise is not committed, so nothing is built on it.
People who are divided into shards are attacked shard by shard, by an adversary who knows who is in which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import polars as pl

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Product
from republish.anonymize.errors import AT_FAULT, AuditFailed
from republish.anonymize.figures import Figures
from republish.anonymize.people.persons import joined_by_names
from republish.anonymize.people.rows import as_counted
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principles import principle_of, publisher_of
from republish.anonymize.promise import Promise
from republish.anonymize.promise.attacked import ReleaseAttack, attack
from republish.anonymize.promise.check import figures_of, figures_of_all, named_together
from republish.anonymize.promise.registry import checks_of, describe_findings
from republish.orchestration.chain.guessing import guessed, with_clues, without_clues
from republish.orchestration.expectations import Verdict, judge

ATTACK = "attack"
"""The check and the suite of what an adversary is left with."""


@dataclass(frozen=True)
class Attacked:
    """The counts of the attacks on a candidate, or on one shard of it."""

    evidence: Mapping[str, pl.DataFrame]
    """A table for each check."""
    fewest: Mapping[str, int]
    """How many rows there have to be of some (`fewest_rows`)."""
    figures: tuple[Figures, ...]
    """Results of the attacks: candidate values left, people vulnerable."""
    guessed: float | None = None
    """The share of people whose value is guessed right by learning; None where the contract bounds none."""


NO_EVIDENCE = Attacked({}, {}, ())
"""Stands for the counts of a shard once it is judged."""


@dataclass(frozen=True)
class Audit:
    """The findings of an audit on a candidate."""

    verdicts: tuple[Verdict, ...]
    """The suites' verdicts on the attacks' counts and findings."""
    findings: pl.DataFrame
    """A row per promise."""
    figures: Mapping[str, float | None]
    """Results of the attacks."""


def attack_candidate(
    candidate: Candidate,
    people: pl.DataFrame,
    contract: Product,
    promises: Sequence[Promise],
    knowledge: Knowledge | None,
) -> tuple[Attacked, Knowledge]:
    """Attack a candidate, or one shard of it.

    Parameters
    ----------
    people
        T(n): `identifier`, `pseudonym`, `qi_0`, …, `value`; of a view `column_0`, … in place of these.
    promises
        What each release so far promised to the people it published first, this one last.
    knowledge
        What the attack on the release before left, or None.

    Returns
    -------
    tuple
        What was counted, and what an adversary remembers of the series: for the attack on the next release.
    """
    release_format = principle_of(contract).format(contract)
    knowledge, clues = without_clues(knowledge)
    # Whether there is a smaller equivalence attack than promised is NP-hard to say. In the chain the cuts
    # answer for it; the exact attack is for `republish audit`, which has the time.
    attacked = attack(
        contract.table_schema,
        release_format,
        candidate.published,
        people.rename({PSEUDONYM: "person"}),
        promises,
        knowledge,
        linkage=candidate.linkage.rename({PSEUDONYM: "person"}),
        held_back=candidate.figures.held_back,
        publish=publisher_of(contract),
    )
    checks = checks_of(promises[-1], release_format, contract)
    evidence = {check.name: attacked.tables[check.name] for check in checks} | {ATTACK: attacked.findings}
    fewest = fewest_rows(_promised(candidate.linkage, people, contract), knowledge, len(promises))
    guesses = None if contract.expect.guessed is None else guessed(candidate, people, contract, clues)
    return (
        Attacked(evidence, fewest, attacked.counted, None if guesses is None else guesses.learned),
        with_clues(attacked.knowledge.of_the_present(len(promises)), guesses),
    )


@dataclass(frozen=True)
class Judged:
    """The suites' verdicts on one shard, and the rest of its evidence."""

    verdicts: Mapping[str, Verdict]
    counted: Mapping[str, Mapping[str, Any]]
    """Figures of each table of evidence (`figures_of`)."""
    named: Mapping[str, pl.DataFrame | None]
    """The tables whose rows have names."""
    attack: ReleaseAttack
    """Results of the attacks."""

    @classmethod
    def of(cls, attacked: Attacked) -> Self:
        """Have Great Expectations judge what was counted."""
        evidence = attacked.evidence
        return cls(
            {verdict.promise: verdict for verdict in judge(evidence, attacked.fewest)},
            {name: figures_of(table) for name, table in evidence.items()},
            {name: named_together([table]) for name, table in evidence.items()},
            ReleaseAttack(evidence[ATTACK], attacked.figures, Knowledge()),
        )


def audit(judged: Sequence[Judged], contract: Product, promise: Promise) -> Audit:
    """Put the verdicts on all shards of a candidate together."""
    whole = ReleaseAttack.of_shards([one.attack for one in judged])
    findings = whole.findings
    checks = {one.name: one for one in checks_of(promise, principle_of(contract).format(contract), contract)}
    verdicts = []
    for name in judged[0].verdicts:
        verdict = Verdict.of_all([one.verdicts[name] for one in judged])
        if name == ATTACK:
            numbers = {"promises": len(findings), "promises that hold": int(findings["holds"].sum())}
            words = describe_findings(findings)
            verdicts.append(_naming_promises(verdict, findings).with_words(words, findings, numbers))
            continue
        tables = [table for one in judged if (table := one.named[name]) is not None]
        table = named_together(tables) if tables else None
        counted = (
            figures_of_all([one.counted[name] for one in judged]) if table is None else figures_of(table)
        )
        check = checks[name]
        words = as_counted(check.describe(counted), contract)
        verdicts.append(verdict.with_words(words, table, check.figures(counted)))
    return Audit(tuple(verdicts), findings, whole.figures)


def fewest_rows(linkage: pl.DataFrame, knowledge: Knowledge | None, release: int) -> dict[str, int]:
    """How many rows of evidence there have to be: none is no promise kept where there are people.

    They are counted from the linkage and what the attacks remember, not from what the principle remembers.

    Parameters
    ----------
    linkage
        `pseudonym` of everybody in the release to whom something is promised.
    knowledge
        What the audit of the release before left, or None.
    release
        n, counted from 1.

    Returns
    -------
    dict
        Parameters of the suites: `fewest_groups` is 1 if there are people, `fewest_remembered` if some of
        them were in the release before, `fewest_cuts` and `fewest_arrivals` if some were in none before.
    """
    people = linkage.select(person=PSEUDONYM)
    remembered, came = people.clear(), people
    if knowledge is not None and knowledge.stays is not None:
        last = joined_by_names(people, knowledge.stays.people.select("person", "until"), "left", "person")
        remembered, came = last.filter(until=release - 1), last.filter(pl.col("until").is_null())
    fewest = {"groups": people, "remembered": remembered, "cuts": came, "arrivals": came}
    return {f"fewest_{name}": int(not some.is_empty()) for name, some in fewest.items()}


def _promised(linkage: pl.DataFrame, people: pl.DataFrame, contract: Product) -> pl.DataFrame:
    """The linkage of people to whom something is promised: all but those whose value may be known."""
    if contract.sensitive is None:
        return linkage
    owed = people.filter(~contract.sensitive.may_be_known(people[VALUE]))
    if len(owed) == len(people):
        return linkage
    return linkage.join(owed, on=PSEUDONYM, how="semi")


def refuse_broken(name: str, verdicts: Sequence[Verdict]) -> None:
    """Raise AuditFailed if any promise is broken, naming each and how often."""
    broken = [f"{verdict.promise}: {' '.join(verdict.broken)}" for verdict in verdicts if not verdict.passed]
    if broken:
        found = "; ".join(broken).removesuffix(".")
        raise AuditFailed(f"{name}: the audit failed, nothing is published. {found}. {AT_FAULT}", verdicts)


def _naming_promises(verdict: Verdict, findings: pl.DataFrame) -> Verdict:
    """The verdict on the attack with the promises that it broke, and for how many."""
    if verdict.passed:
        return verdict
    return replace(verdict, broken=broken_promises(findings) or verdict.broken)


def broken_promises(findings: pl.DataFrame) -> list[str]:
    """A sentence on each promise that is broken, and for how many."""
    broken = findings.filter(~pl.col("holds")).select("promise", "broken", "people").iter_rows()
    return [f"{promise} is broken for {count} of {people}." for promise, count, people in broken]
