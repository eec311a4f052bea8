"""From T(n) and the release before to a candidate that passed its audit. Nothing is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.columns import CORRECTED, IDENTIFIER
from republish.anonymize.contract import Product
from republish.anonymize.contract.expected import describe_expected, describe_odd, expected_of_release
from republish.anonymize.errors import NotEligible, SnapshotError, ValueChangeRefused
from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.principle import Draw
from republish.anonymize.principle.state import State
from republish.anonymize.principles import principle_of
from republish.anonymize.promise import Promise
from republish.orchestration.chain.audit import (
    Attacked,
    Audit,
    Judged,
    attack_candidate,
    audit,
    refuse_broken,
)
from republish.orchestration.chain.changes import refuse_changes
from republish.orchestration.chain.delta import EXPECTED
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.expectations import Verdict, judge
from republish.orchestration.series.predecessor import Predecessor, verify_predecessor
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard
from republish.orchestration.snapshots.previous import join_previous
from republish.orchestration.steps import say_step


@dataclass
class Clock:
    """Seconds by what they were spent on, since it was made."""

    seconds: dict[str, float] = field(default_factory=dict)
    _at: float = field(default_factory=time.perf_counter)

    def lap(self, spent_on: str) -> None:
        """Put the time since the last lap down to something."""
        now = time.perf_counter()
        self.seconds[spent_on] = round(self.seconds.get(spent_on, 0.0) + now - self._at, 3)
        self._at = now

    def skip(self) -> None:
        """Leave the time since the last lap to whoever worked in it."""
        self._at = time.perf_counter()


@dataclass(frozen=True)
class Remembered:
    """Memories of the releases so far."""

    state: State = field(default_factory=State.empty)
    """The principle's memory."""
    knowledge: Knowledge | None = None
    """An adversary's memory."""
    promises: tuple[Promise, ...] = ()
    """Each release's promise to the people it published first."""


@dataclass(frozen=True)
class AttackedCandidate:
    """A candidate that was drawn and attacked, or a shard of it, and is not judged yet."""

    people: pl.DataFrame
    """T(n), as it was made from."""
    candidate: Candidate
    attacked: Attacked
    knowledge: Knowledge
    """An adversary's memory, for the attack on the next release."""

    @property
    def corrected(self) -> int:
        """How many sensitive values were wrong so far."""
        return int(self.people[CORRECTED].sum()) if CORRECTED in self.people.columns else 0


def refuse_unfit(series: Series, release: str, predecessor: Predecessor) -> None:
    """Refuse what a release can't be built on, whatever its people are.

    Raises
    ------
    HomeError, PublishedFolderError
        If the release before is not there to be built on, or is not the one that was published.
    ContractError
        If the contract changed in a way that is neither safe nor accepted.
    """
    verify_predecessor(series, release, predecessor)
    refuse_changes(series.file, release, predecessor.declared)


def remembered_of(series: Series, release: str, predecessor: Predecessor) -> Remembered:
    """Memories of the releases so far, with the tables that others released."""
    before = Remembered(predecessor.state, predecessor.knowledge, predecessor.promises)
    return with_others(before, series.file, f"{series.name} {release}")


def with_others(before: Remembered, file: ContractFile, where: str) -> Remembered:
    """Memories with the tables that others released, as the contract names them; as they are if it doesn't.

    Raises SnapshotError, which says `where`, if one can't be read or is another one than it was.
    """
    try:
        state, others = join_previous(before.state, file)
    except SnapshotError as refusal:
        raise SnapshotError(f"{where}: {refusal}") from None
    knowledge = (before.knowledge or Knowledge()).with_releases(others) if others else before.knowledge
    return Remembered(state, knowledge, before.promises)


def promised(contract: Product, before: tuple[Promise, ...]) -> tuple[Promise, ...]:
    """Promises of the releases so far and of the next one."""
    return (*before, principle_of(contract).promise(contract.principle))


def draw(
    shard: Shard, release: str, number: int, people: pl.DataFrame, before: Remembered, clock: Clock
) -> AttackedCandidate:
    """Draw the candidate of the n-th release, or of a shard of it, from what is remembered, and attack it.

    Parameters
    ----------
    shard, release, number
        Which one; `number` is n, counted from 1.
    people
        T(n): `identifier`, `pseudonym`, `qi_0`, …, `value`, a row per person.

    Raises
    ------
    NotEligible, SnapshotError, ValueChangeRefused
        If the principle refuses the batch.
    """
    say_step("making groups")
    candidate = draw_candidate(shard, release, number, people, before.state)
    say_step("attacking them")
    clock.lap("algorithm")
    promises = promised(shard.contract, before.promises)
    attacked, knowledge = attack_candidate(candidate, people, shard.contract, promises, before.knowledge)
    clock.lap("audit")
    return AttackedCandidate(people, candidate, attacked, knowledge)


def audited(
    series: Series,
    release: str,
    judged: Sequence[Judged],
    figures: ReleaseFigures,
    promise: Promise,
    corrected: int,
    guessed: float | None = None,
) -> Audit:
    """Judge a candidate, and refuse it if it breaks a promise.

    `corrected` is how many sensitive values were wrong so far; `guessed` the share that is guessed right.

    Raises
    ------
    NotEligible
        If nobody is in it, it has more counterfeits than the contract expects, or more is guessed right.
    AuditFailed
        If it breaks a promise.
    """
    refuse_nobody(figures, f"{series.name} {release}")
    ordinary = _judge_ordinary(series, release, figures, corrected, guessed)
    found = audit(judged, series.contract, promise)
    found = replace(found, verdicts=(*found.verdicts, ordinary))
    refuse_broken(f"{series.name} {release}", found.verdicts)
    return found


def refuse_nobody(figures: ReleaseFigures, where: str) -> None:
    """Raise NotEligible if nobody is in a candidate: a release of nobody would be a fact, as any other."""
    if figures.people:
        return
    held_back = f"all {figures.held_back:,} people would be held back. " if figures.held_back else ""
    raise NotEligible(
        f"{where}: there is nobody to publish: {held_back}"
        + (
            "Merge rare and frequent values, or choose a smaller parameter of the principle (on_ineligible:"
            " refuse says what is too frequent); or begin with a later release (releases.first)"
            if held_back
            else "release a snapshot that has people in it, or end the series before it (releases.last)"
        )
    )


def draw_candidate(shard: Shard, release: str, number: int, people: pl.DataFrame, state: State) -> Candidate:
    """Have the principle make a candidate of T(n) on a state; `number` is n, and may be another release's.

    Raises
    ------
    NotEligible, SnapshotError, ValueChangeRefused
        If it refuses the batch.
    """
    where = f" in shard {shard.number} of {shard.contract.shards}" if shard.place else ""
    return candidate_of(
        people,
        shard.contract,
        state,
        number,
        lambda purpose: shard.draw(release, purpose),
        f"{shard.series.name} {release}{where}",
    )


def candidate_of(
    people: pl.DataFrame, contract: Product, state: State, number: int, draw: Draw, where: str
) -> Candidate:
    """A principle's candidate of T(n), with `identifier`; its refusal says `where`."""
    try:
        return principle_of(contract).release(people.drop(IDENTIFIER), contract, state, number, draw)
    except (NotEligible, SnapshotError, ValueChangeRefused) as refusal:
        raise type(refusal)(f"{where}: {refusal}") from None


def _judge_ordinary(
    series: Series, release: str, figures: ReleaseFigures, corrected: int, guessed: float | None
) -> Verdict:
    """The verdict of the suite `expected` on a candidate.

    Where values are corrected, it says what an adversary sees of that.

    Raises NotEligible if it has more counterfeits than the contract expects, or more is guessed right.
    """
    contract = series.contract
    accepted = contract.accepted(release)
    evidence = expected_of_release(figures.counterfeits, figures.tuples, contract, accepted, guessed)
    words = describe_expected(evidence)
    if corrected:
        words += f". {corrected:,} sensitive values were wrong so far. {principle_of(contract).corrected}"
    verdict = judge({EXPECTED: evidence}, {})[0].with_words(
        words, evidence, {CORRECTED: corrected} if corrected else {}
    )
    if verdict.passed:
        return verdict
    raise NotEligible(
        f"{series.name} {release}: {why_not_ordinary(evidence, release, verdict.broken)}", [verdict]
    )


def why_not_ordinary(evidence: pl.DataFrame, release: str, broken: Sequence[str] = ()) -> str:
    """Why a candidate that is not what is expected is refused, and the ways out.

    `broken` is what the verdict says where no measure is odd.
    """
    odd = evidence.filter(pl.col("odd") > 0)["measure"].to_list()
    ways = {
        "counterfeits": "If values were recoded, say so (sensitive.renamed); else choose a smaller m",
        "guessed": "Choose a larger m (republish compare shows what is guessed with each), a smaller regroup,"
        " or coarser columns",
    }
    if not odd:
        return "; ".join(broken)
    out = f"{'. '.join(ways[one] for one in odd)}, or accept it: accept: {{{release}: [{', '.join(odd)}]}}"
    return f"{'; '.join(describe_odd(evidence))}. {out}"
