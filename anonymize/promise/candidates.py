"""Candidate values, however many releases are intersected, and the signatures that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from republish.anonymize.attack.figures import CandidateFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Attack, Chart, Curve, Part, Promise, Scope, single

_attack_assignments: Callable[..., AttackResult | None] = on_first_call(
    "republish.anonymize.attack.assignments", "attack_assignments"
)
_attack_together: Callable[..., AttackResult] = on_first_call(
    "republish.anonymize.attack.candidates", "attack_several_series"
)

LEFT = (
    "How many values are possible for a person (candidate values), after all releases so far are intersected."
)
RISK = "The largest risk of any person: 1 divided by the fewest candidate values that a person has so far."


FOUND = (
    "At least {least_new} values in each group with anybody new: fewest found {values_new}. {rows:,} groups,"
    " {newcomers_sum:,} people with a new signature."
)
CHECKS = {
    "unique": Check(
        "m_uniqueness",
        "Every group holds each of its values once, and at least as many as promised where anybody's"
        " signature is new.",
        FOUND,
    ),
    "even": Check(
        "balance",
        "Every group holds each of its values equally often, and at least as many as promised where anybody's"
        " signature is new.",
        FOUND,
    ),
}


@dataclass(frozen=True)
class Signatures(Part):
    """Each group holds the values of its signature once each (unique), or equally often (even)."""

    signatures: Literal["unique", "even"]

    attacked_by: ClassVar[Attack] = on_first_call(
        "republish.anonymize.attack.invariance", "attack_regularity"
    )
    scopes = single(
        "values of a group",
        "Each group holds each of its values once, or all equally often, as promised.",
        counts_people=False,
    )

    def __post_init__(self) -> None:
        if self.signatures not in CHECKS:
            raise ValueError(f"signatures ({self.signatures}) must be one of {', '.join(CHECKS)}")

    def sentences(self) -> Iterator[str]:
        """The promise, for readers of a release."""
        often = {"unique": "once", "even": "equally often"}[self.signatures]
        yield f"Each group has each of its values {often}."

    @property
    def check(self) -> Check:
        """The check by which Great Expectations judges the table that the attack counts."""
        return CHECKS[self.signatures]

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release."""
        return cls.attacked_by(seen, cls.bounds(promises), Candidates.bounds(promises))


@dataclass(frozen=True)
class Candidates(Part):
    """Each person keeps at least so many candidate values, however many releases are intersected."""

    candidates: int

    attacked_by = on_first_call("republish.anonymize.attack.candidates", "attack_candidates")
    scopes: ClassVar[Mapping[str, Scope]] = {
        "hosts": Scope(
            "candidates by hosting group",
            "An adversary who knows every person's group in every release is left with at least the promised"
            " number of candidate values for each person.",
            "at least",
        ),
        "covered": Scope(
            "candidates by quasi-identifiers",
            "An adversary who knows every person's quasi-identifiers and dates of presence is left with at"
            " least the promised number of candidate values for each person.",
            "at least",
        ),
        "changed": Scope(
            "candidates after a change",
            "Intersecting the candidate values before and after a change of value leaves none, or at least"
            " the promised number.",
            "at least",
        ),
        "signatures": Scope(
            "signature invariance",
            "Each person's groups have one signature as long as the person stays with the same value, and it"
            " has as many values as promised.",
            "at least",
        ),
        "assignments": Scope(
            "candidates by assignment",
            "The values that remain for a person, once all people of each release share out its tuples, are"
            " at least as many as promised.",
            "at least",
        ),
        "risk": Scope(
            "disclosure risk",
            "No person's value has a larger probability than promised, if all assignments of tuples to people"
            " are equally likely (Definition 14). Where a group has several tuples of a value that may be"
            " known, people whose value has a larger one without numbers for such tuples are not decided.",
            "at most",
        ),
        **{
            kind: Scope(
                f"candidates over several series, by {words}",
                "All series of these people together leave at least the promised number of candidate values"
                " for each person.",
                "at least",
            )
            for kind, words in (
                ("hosts together", "hosting group"),
                ("covered together", "quasi-identifiers"),
            )
        },
    }
    counted = CandidateFigures
    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            LEFT,
            "possible values left",
            (
                Curve("fewest_candidates_now", "fewest"),
                Curve("candidates_of_5_percent", "5 % have no more"),
                Curve("median_candidates", "median"),
            ),
            level=lambda part: part.candidates,
        ),
        Chart(
            RISK,
            "largest risk",
            (
                Curve("risk_by_quasi_identifiers", "knowing quasi-identifiers"),
                Curve("risk_by_host", "knowing hosting groups"),
            ),
            top=1.05,
            bound="at most",
            level=lambda part: 1 / part.candidates,
        ),
    )
    needs_all_releases = True
    ranges: ClassVar = {"candidates": (1, None)}
    sentence = (
        "Each person keeps at least {candidates} possible values, also for readers who have every"
        " release of the series and know everybody's quasi-identifiers."
    )
    check = Check(
        "signature_invariance",
        "Each person's signature equals each earlier one or shares no value with it.",
        "{remembered_sum:,} earlier signatures of the people in this release: {same_sum:,} are the same"
        " today, {disjoint_sum:,} share no value with today's, {overlapping_sum:,} share some.",
    )

    @classmethod
    def attack_series(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult | None:
        """Attack all releases of a series together."""
        kept = {cls.scopes["signatures"].name, Signatures.scopes[""].name}
        is_bounded = seen.is_linked and kept <= set(seen.holding)
        return _attack_assignments(seen, Candidates.bounds(promises), is_bounded=is_bounded)

    @classmethod
    def attack_together(cls, series: Sequence[Any], given: Candidates, schema: Any) -> AttackResult:
        """Attack several series about the same people."""
        del schema
        return _attack_together(series, given.candidates)
