"""What a report says. Names and order of the fields are those of `audit.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Self

from republish.anonymize.attack.measures.guessing import Guesses
from republish.anonymize.attack.measures.presence import Presence
from republish.anonymize.promise.part import Figure
from republish.anonymize.promise.registry import scopes
from republish.anonymize.utility.usefulness import Usefulness
from republish.orchestration.audit.findings import Gap
from republish.orchestration.audit.report.handout import (
    Emptied,
    Internal,
    Measured,
    OfHalf,
    OfHundredth,
    OfTwentieth,
    People,
    SeriesName,
    Stated,
    coarse,
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the findings: a promise of a series, with what was found."""

    series: SeriesName[str]
    promise: str
    people: People[int]
    broken: People[int]
    undecided: People[int]
    found: float | None
    required: float | None
    bound: str | None
    holds: bool
    promised_in: list[list[str]] | None
    broken_in: list[str]
    meaning: str
    of_people: bool
    """Whether its counts are of people, not of files, rows or groups."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """A row of `Findings.promises`."""
        scope, bound = scopes()[row["promise"]], None if row["required"] is None else row["bound"]
        return cls(**{**row, "bound": bound}, meaning=scope.meaning, of_people=scope.counts_people)


@dataclass(frozen=True)
class Reidentification:
    """Risks of a release by itself."""

    k: int | None
    l: int | None
    prosecutor_risk: float | None
    journalist_risk: float | None
    marketer_risk: float | None
    lone_ends: int | None
    ends: int | None


@dataclass(frozen=True)
class Useful(Usefulness):
    """What a release is worth, with the publisher's names of columns."""

    held_back: People[int]
    query_error: Measured[float]
    median_error: Measured[float]
    error_without: Measured[float]
    errors_by_column: Measured[dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Guessed:
    """What is guessed right after learning from the groups: `Guesses` with what follows from them."""

    people: Internal[int]
    hosted: Internal[int]
    learned: Measured[float]
    surest_twentieth: OfTwentieth[float]
    surest_hundredth: OfHundredth[float]
    with_truth: OfHalf[float]
    at_random: Measured[float]
    most_frequent: Measured[float]
    from_truth: OfHalf[float]
    error: Measured[float]
    group_known: float
    """The share of the people whose group is known."""

    @classmethod
    def of(cls, found: Guesses) -> Self:
        """What was guessed of a release."""
        shares = asdict(replace(found, clues=None))
        del shares["clues"]
        return cls(**shares, group_known=found.hosted / found.people)


@dataclass(frozen=True)
class GuessedColumn:
    """Shares that are guessed right of a sensitive column."""

    column: str | None
    """None: of all columns together."""
    learned: Measured[float]
    at_random: Measured[float]
    most_frequent: Measured[float]
    from_truth: OfHalf[float]


@dataclass(frozen=True)
class Present(Presence):
    """How well people who are in the last release are told from others."""

    inside: Internal[int]
    outside: Internal[int]


@dataclass(frozen=True)
class Release:
    """A release."""

    release: str
    tuples: int
    figures: Internal[Mapping[str, Any]]
    findings: Internal[list[dict[str, Any]]]
    reidentification: Reidentification | None
    """None of a view."""
    useful: Useful | None
    guesses: Guessed | None
    by_column: list[GuessedColumn]
    """Of several sensitive columns each, and all of them; else empty."""


@dataclass(frozen=True)
class Unpromised:
    """A figure that nothing was promised about."""

    figure: str
    found: Measured[float]
    words: str
    people: Internal[int | None] = None
    """People on whose true values it is measured; None where readers can compute it themselves."""


@dataclass(frozen=True)
class Signature:
    """The equivalence attack on a signature.

    It is numbered, not named: which values are rare is not the report's to say.
    """

    signature: int
    values: int
    partitions: int
    people: int
    e: int | None
    at_least: int | None
    proven: bool


@dataclass(frozen=True)
class Series:
    """A series."""

    name: SeriesName[str]
    releases: list[Release]
    columns: Internal[list[Figure]]
    intersection: Emptied[dict[str, Any]]
    candidates: Internal[list[dict[str, Any]]]
    not_promised: list[Unpromised]
    beside_guesses: list[str]
    largest_share: float | None
    presence: Present | None
    exact_risks: Internal[Mapping[str, Any]]
    equivalence: Emptied[Signature]
    equivalence_by_column: Mapping[str, int | None]


@dataclass(frozen=True)
class ResidualRisk:
    """What is guessed right at worst, of any release, as a share."""

    series: SeriesName[str]
    release: str
    guessed: float
    """Of a view, the largest confidence."""
    without: float | None
    """What is guessed without the release; None where it is not measured."""
    promised: float | None
    error: float | None = None
    """Standard error of `guessed`; None of a view."""
    people: Internal[int | None] = None
    """People whose values were guessed; None of a view, whose confidences its readers can compute."""

    def handed_out(self) -> Self | None:
        """What the handout says of it; None of too few people."""
        if self.people is None:
            return self
        guessed, without, error = (
            coarse(figure, self.people) for figure in (self.guessed, self.without, self.error)
        )
        return None if guessed is None else replace(self, guessed=guessed, without=without, error=error)


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The contract."""

    file: Internal[str]
    product: str
    quasi_identifiers: Stated[list[str]] = None
    columns: Stated[list[str]] = None
    """Of a view."""
    sensitive: Stated[str] = None
    sensitive_columns: Stated[list[str]] = None
    rows: Stated[str] = None
    """`several`, where a person may have several rows."""
    principle: Mapping[str, Any]
    """Its name and parameters, or what a mapping says in its place."""
    promises: list[str]
    """What it promises, in sentences for readers."""


@dataclass(frozen=True)
class FileRead:
    """A file that was read."""

    file: str
    sha256: str
    rows: int | None


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that a report says but its conclusion, which quotes it."""

    product: str
    date: str
    auditor: str | None
    purpose: str
    governance: Mapping[str, Any]
    software: str
    nonce: Annotated[str | None, "internal", "stated"]
    """See `signature.nonce`."""
    holds: bool
    verdict: str
    contract: Declared
    columns: list[dict[str, str]]
    background_knowledge: Sequence[str]
    promises: list[Row]
    keeps_contract: bool
    asked: list[Row] | None
    series: list[Series]
    residual_risk: ResidualRisk | None
    not_covered: list[Gap]
    read: list[FileRead]
    """Of the handout, the published ones alone."""
    published: Internal[list[FileRead]]
    """The published files, without the folders above them."""
