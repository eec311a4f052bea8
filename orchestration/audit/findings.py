"""The audit of whole series: every release attacked in order, then all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from anonymize.attack import evidence as ev
from anonymize.attack.audit import Knowledge, ReleaseAudit, audit_release, promised
from anonymize.attack.breach import breach_figures
from anonymize.attack.equivalence import Equivalence, minimum_equivalence
from anonymize.attack.intersection import SCOPES, candidates, distribution, intersection_figures
from anonymize.contract import Contract
from orchestration.audit.foreign import Foreign
from orchestration.audit.reading import (
    PublishedSeries,
    Reading,
    metadata_evidence,
    read_linkage,
    read_release,
    read_truth,
)


@dataclass(frozen=True)
class Evidence:
    """Where everything is that an audit reads."""

    contract: Contract
    series: list[PublishedSeries]
    truth: Path
    private: Path | None
    foreign: Foreign | None
    reading: Reading


@dataclass(frozen=True)
class AttackedRelease:
    """One release, attacked with all that came before it."""

    name: str
    tuples: int
    audit: ReleaseAudit


@dataclass(frozen=True)
class AttackedSeries:
    """All releases of a series."""

    name: str
    releases: list[AttackedRelease]
    equivalences: list[Equivalence]
    """The smallest attack per signature; empty where it wasn't attacked."""

    @property
    def knowledge(self) -> Knowledge:
        """What an adversary knows in the end."""
        return self.releases[-1].audit.knowledge

    def promises(self) -> pl.DataFrame:
        """One row per promise, over all releases: the release that breaks it most, else the last one."""
        rows = pl.concat(
            release.audit.evidence.with_columns(pl.lit(release.name).alias("release"), pl.lit(n).alias("n"))
            for n, release in enumerate(self.releases)
        )
        where = pl.col("release").filter(~pl.col("holds"))
        worst = pl.all().sort_by("broken", "n").last()
        return (
            rows.group_by("promise", maintain_order=True)
            .agg(worst, where.alias("broken_in"))
            .with_columns(pl.lit(self.name).alias("series"))
            .drop("release", "n")
        )


@dataclass(frozen=True)
class Findings:
    """What the audit came to."""

    contract: Contract
    series: list[AttackedSeries]
    together: pl.DataFrame | None
    """Evidence over all series, if there is more than one."""
    not_covered: list[tuple[str, str]] = field(default_factory=list)
    """What was not looked at, and why."""

    def promises(self) -> pl.DataFrame:
        """One row per series and promise: `series`, `promise`, `people`, `broken`, … `broken_in`."""
        rows = [one.promises() for one in self.series]
        if self.together is not None:
            rows.append(
                self.together.with_columns(
                    pl.lit("all series together").alias("series"),
                    pl.lit([], dtype=pl.List(pl.String)).alias("broken_in"),
                )
            )
        return pl.concat(rows, how="diagonal").select(
            "series", "promise", "people", "broken", "found", "required", "holds", "broken_in"
        )

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return bool(self.promises()["holds"].all())


def steps(evidence: Evidence) -> int:
    """How many steps `attack` takes, for a progress bar."""
    return sum(len(one.releases) + 1 for one in evidence.series)


def attack(evidence: Evidence, seconds: float) -> Iterator[str | Findings]:
    """Run every attack; yields the name of each step as it begins, and the findings at the end.

    Parameters
    ----------
    evidence
        What to read.
    seconds
        Time for the equivalence attack on each series.
    """
    attacked: list[AttackedSeries] = []
    domain = None
    for series in evidence.series:
        releases: list[AttackedRelease] = []
        knowledge = Knowledge(domain=domain)
        for number, _ in enumerate(series.releases, start=1):
            yield f"{series.name} {series.releases[number - 1].name}"
            releases.append(_attack_release(evidence, series, number, knowledge, seconds))
            knowledge = releases[-1].audit.knowledge
            # What was carried over is only kept once.
            if number > 1:
                releases[-2] = _forget(releases[-2])
        yield f"{series.name}: who has the same value as whom"
        attacked.append(AttackedSeries(series.name, releases, _equivalences(knowledge, seconds)))
        domain = knowledge.domain
    together = _together(attacked, evidence.contract) if len(attacked) > 1 else None
    yield Findings(evidence.contract, attacked, together, _not_covered(evidence, attacked))


def _attack_release(
    evidence: Evidence, series: PublishedSeries, number: int, knowledge: Knowledge, seconds: float
) -> AttackedRelease:
    release = series.releases[number - 1]
    contract, reading = evidence.contract, evidence.reading
    tables = read_release(release, contract, evidence.foreign, reading)
    snapshot = read_truth(evidence.truth, release.name, contract, reading)
    linkage = (
        read_linkage(evidence.private, series.name, release.name, contract, reading)
        if evidence.private
        else None
    )
    found = audit_release(
        as_promised(contract, series, number),
        tables,
        snapshot,
        number,
        knowledge,
        linkage=linkage,
        held_back=(release.manifest or {}).get("held_back", 0),
        everything=True,
        seconds=seconds,
    )
    found = replace(found, evidence=pl.concat([found.evidence, metadata_evidence(release)]))
    tuples = len(tables["microdata"] if "microdata" in tables else tables["quasi_identifiers"])
    return AttackedRelease(release.name, tuples, found)


def as_promised(contract: Contract, series: PublishedSeries, number: int) -> Contract:
    """The contract with the smallest m that the manifests of a series state up to a release.

    People published under a smaller m keep their signatures when m is raised.
    """
    stated = [(release.manifest or {}).get("principle", {}).get("m") for release in series.releases[:number]]
    m = promised(contract)[0]
    smaller = [other for other in stated if isinstance(other, int) and m is not None and other < m]
    if not smaller:
        return contract
    return contract.model_copy(
        update={"principle": contract.principle.model_copy(update={"m": min(smaller)})}
    )


def _forget(release: AttackedRelease) -> AttackedRelease:
    return replace(release, audit=replace(release.audit, knowledge=Knowledge()))


def _equivalences(knowledge: Knowledge, seconds: float) -> list[Equivalence]:
    if knowledge.members is None or knowledge.members.is_empty():
        return []
    return minimum_equivalence(knowledge.members, knowledge.contents, seconds=seconds)


def _together(attacked: list[AttackedSeries], contract: Contract) -> pl.DataFrame:
    """All series are out there: what is left of each person when they are intersected with each other."""
    required = promised(contract)[0]
    kinds = (
        ("hosted", "covered") if all(one.knowledge.hosted is not None for one in attacked) else ("covered",)
    )
    rows = []
    for kind in kinds:
        left = candidates([getattr(one.knowledge, kind) for one in attacked])
        few = left.filter(pl.col("candidates") < (required or 0))["person"].n_unique()
        name = f"{ev.SERIES}, by {'hosting group' if kind == 'hosted' else 'quasi-identifiers'}"
        rows.append(ev.promise(name, left["person"].n_unique(), few, left["candidates"].min(), required))
    return pl.concat(rows)


def intersection_table(series: AttackedSeries) -> pl.DataFrame:
    """What intersecting comes to by what an adversary links: `linked`, `attacked`, `vulnerable`, …."""
    return pl.DataFrame(
        [
            {"linked": scope} | intersection_figures(candidates([series.knowledge.covered], scope))
            for scope in SCOPES
        ]
    )


def final_distribution(series: AttackedSeries) -> pl.DataFrame:
    """`candidates`, `people`: everybody ever published, by what is left of them."""
    return distribution(candidates([series.knowledge.covered]))


def largest_breach(series: AttackedSeries) -> float | None:
    """The largest breach probability in the end, where it could be computed."""
    state = series.knowledge.breach
    return None if state is None or state.is_empty() else breach_figures(state)["largest"]


def _not_covered(evidence: Evidence, attacked: list[AttackedSeries]) -> list[tuple[str, str]]:
    """What a reader might believe was looked at."""
    gaps = [] if evidence.private else [_hosts_unknown(one) for one in attacked]
    gaps += [gap for one in attacked for gap in _equivalence_gaps(one)]
    for series in evidence.series:
        without = sum(release.manifest is None for release in series.releases)
        if without:
            what = f"{series.name}: whether {without} of {len(series.releases)} releases are as published"
            gaps.append((what, "they have no manifest to be held against."))
        gaps += _smaller_promises(evidence.contract, series)
    if evidence.contract.sensitive.semantics == "transient":
        gaps.append(TRANSIENT)
    return gaps + NEVER_COVERED


def _smaller_promises(contract: Contract, series: PublishedSeries) -> list[tuple[str, str]]:
    m = promised(contract)[0]
    weakest = promised(as_promised(contract, series, len(series.releases)))[0]
    if weakest == m:
        return []
    return [
        (
            f"{series.name}: whether people who came after m was raised to {m} have {m} candidates",
            (
                f"the series began with m = {weakest}, and whoever was published then keeps their"
                " signature; everybody was held against that."
            ),
        )
    ]


TRANSIENT = (
    "Values that come and go",
    (
        "candidate sets are intersected over the releases in which a person had the same value; for having"
        " had a value at any time, see the breach probabilities."
    ),
)
NEVER_COVERED = [
    (
        "Adversaries who know the publisher's algorithm, and exact risks over all possible tables",
        (
            "both take time exponential in the number of people; they are run on tiny instances in the"
            " software's own tests and benchmarks."
        ),
    ),
    (
        "Adversaries who know some people's sensitive values, or how values depend on quasi-identifiers",
        "the background knowledge assumed is everybody's presence and quasi-identifiers, no values.",
    ),
    (
        "Times and owners of the files where they are offered for download",
        "they are not part of the folders' content and change with every copy.",
    ),
]


def _hosts_unknown(series: AttackedSeries) -> tuple[str, str]:
    figures = series.releases[-1].audit.figures
    unknown = figures["people"] - figures["hosts_known"]
    return (
        f"{series.name}: the groups of {unknown:,} of {figures['people']:,} people in the last release",
        (
            "more than one group covers them, and no private folder was given (--private). Groups were not"
            " checked person by person; groups with these people in them are left out of the equivalence"
            " attack, and these people out of breach probabilities."
        ),
    )


def _equivalence_gaps(series: AttackedSeries) -> list[tuple[str, str]]:
    if not series.equivalences:
        return [(f"{series.name}: who has the same value as whom", "no group's people are all known.")]
    unproven = sum(not found.proven for found in series.equivalences)
    if not unproven:
        return []
    return [
        (
            f"{series.name}: equivalence on {unproven} of {len(series.equivalences)} parts",
            (
                "the time was too short, or the series too large, to prove the smallest; the one found is"
                " given, and a bound. A part is a signature; the last one is all of them together. Give more"
                " time (--seconds)."
            ),
        )
    ]
