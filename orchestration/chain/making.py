"""From T(n) and the release before to a candidate that passed its audit.

Nothing is written: `republish release` commits the candidate, and `republish validate` says what it would be.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import polars as pl

from anonymize.attack.knowledge import Knowledge
from anonymize.columns import IDENTIFIER
from anonymize.contract.expected import describe_expected, describe_odd, expected_of_release
from anonymize.errors import NotEligible, SnapshotError, ValueChangeRefused
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from anonymize.principles import principle_of
from anonymize.promise import Promise
from orchestration.chain.audit import Audit, audit, refuse_broken
from orchestration.chain.changes import refuse_changes
from orchestration.chain.delta import EXPECTED
from orchestration.chain.same_people import refuse_same_people
from orchestration.expectations import Verdict, judge
from orchestration.series.basis import Basis, verify_basis
from orchestration.series.series import Series
from orchestration.snapshots.previous import join_previous
from orchestration.steps import say_step


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


@dataclass(frozen=True)
class Remembered:
    """What is remembered of the releases so far."""

    state: State = field(default_factory=State.empty)
    """By the principle."""
    knowledge: Knowledge | None = None
    """By an adversary."""
    promises: tuple[Promise, ...] = ()
    """What each release promised to the people it published first."""


@dataclass(frozen=True)
class Made:
    """A candidate that passed its audit."""

    people: pl.DataFrame
    """T(n), as it was made from."""
    candidate: Candidate
    audit: Audit
    """What was found, what is ordinary included."""
    promises: tuple[Promise, ...]
    """What each release so far promised to the people it published first, this one last."""

    @property
    def remembered(self) -> Remembered:
        """What the release after this one would be built on."""
        return Remembered(self.candidate.state, self.audit.knowledge, self.promises)


def make_candidate(series: Series, release: str, people: pl.DataFrame, basis: Basis, clock: Clock) -> Made:
    """Make the candidate of a release, and audit it.

    Parameters
    ----------
    series, release
        Which one.
    people
        T(n): `identifier`, `pseudonym`, `qi_0`, …, `value`, a row per person.
    basis
        What it is built on.
    clock
        Told what time is spent on.

    Raises
    ------
    HomeError, PublishedFolderError
        If the release before is not there to be built on, or is not the one that was published.
    ContractError
        If the contract changed in a way that is neither safe nor accepted, or another product has published
        some of the people and no contract says why it may.
    NotEligible, SnapshotError, ValueChangeRefused
        If the principle refuses the batch.
    AuditFailed
        If the candidate breaks a promise.
    """
    verify_basis(series, release, basis)
    refuse_changes(series, release, basis.declared)
    refuse_same_people(series, people[IDENTIFIER])
    state, knowledge = _with_others(series, release, basis)
    clock.lap("files")
    before = Remembered(state, knowledge, basis.promises)
    return make_audited(series, release, series.chain_number(release), people, before, clock)


def make_audited(
    series: Series, release: str, number: int, people: pl.DataFrame, before: Remembered, clock: Clock
) -> Made:
    """Make the candidate of the n-th release from what is remembered, and audit it.

    Raises
    ------
    NotEligible, SnapshotError, ValueChangeRefused, AuditFailed
        As `make_candidate` does.
    """
    contract = series.contract
    promises = (*before.promises, principle_of(contract).promise(contract.principle))
    say_step("making groups")
    candidate = draw_candidate(series, release, number, people, before.state)
    say_step("attacking them")
    clock.lap("algorithm")
    ordinary = _judge_ordinary(series, release, candidate)
    found = audit(candidate, people, contract, promises, before.knowledge)
    found = replace(found, verdicts=(*found.verdicts, ordinary))
    clock.lap("audit")
    refuse_broken(f"{series.name} {release}", found.verdicts)
    return Made(people, candidate, found, promises)


def draw_candidate(
    series: Series, release: str, number: int, people: pl.DataFrame, state: State
) -> Candidate:
    """What the principle makes of T(n) on a state; `number` is n, also where another one than the release's.

    Raises
    ------
    NotEligible, SnapshotError, ValueChangeRefused
        If it refuses the batch.
    """
    try:
        return principle_of(series.contract).release(
            people.drop(IDENTIFIER),
            series.contract,
            state,
            number,
            lambda purpose: series.draw(release, purpose),
        )
    except (NotEligible, SnapshotError, ValueChangeRefused) as refusal:
        raise type(refusal)(f"{series.name} {release}: {refusal}") from None


def _with_others(series: Series, release: str, basis: Basis) -> tuple[State, Knowledge | None]:
    """What is remembered, with the tables that others released."""
    try:
        state, others = join_previous(basis.state, series.file)
    except SnapshotError as refusal:
        raise SnapshotError(f"{series.name} {release}: {refusal}") from None
    if not others:
        return state, basis.knowledge
    return state, (basis.knowledge or Knowledge()).with_releases(others)


def _judge_ordinary(series: Series, release: str, candidate: Candidate) -> Verdict:
    """What the suite `expected` says of a candidate, before the time that its audit takes.

    Raises
    ------
    NotEligible
        If it has more counterfeits than the contract expects.
    """
    contract, figures = series.contract, candidate.figures
    accepted = contract.accepted(release)
    evidence = expected_of_release(figures.counterfeits, figures.tuples, contract, accepted)
    verdict = judge({EXPECTED: evidence}, {})[0].with_words(describe_expected(evidence), evidence)
    if verdict.passed:
        return verdict
    reasons = describe_odd(evidence) or verdict.broken
    raise NotEligible(
        f"{series.name} {release}: {'; '.join(reasons)}. If values were recoded, say so"
        " (sensitive.renamed); else choose a smaller m, or accept it:"
        f" accept: {{{release}: [counterfeits]}}",
        [verdict],
    )
