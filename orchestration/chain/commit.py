"""Keep a candidate that passed its audit, for its publication and for the next release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from republish.anonymize.principle.candidate import ReleaseFigures
from republish.anonymize.promise import Promise
from republish.orchestration.chain.audit import Audit
from republish.orchestration.chain.changes import declared
from republish.orchestration.chain.making import Clock
from republish.orchestration.chain.merging import merge_shards
from republish.orchestration.chain.shard import ShardResult
from republish.orchestration.series.release_record import DIFFERENT_PEOPLE, ReleaseRecord, write_committed
from republish.orchestration.series.series import Series


@dataclass(frozen=True)
class AuditedRelease:
    """A candidate that passed its audit, and whose shards lie in their folders."""

    shards: Sequence[ShardResult]
    figures: ReleaseFigures
    audit: Audit
    """Findings, with what is ordinary among them."""
    promises: tuple[Promise, ...]
    """Each release's promise to the people it published first, this one's last."""

    @property
    def files(self) -> dict[str, str]:
        """SHA-256 (hex) of what is kept, by name in the release's folder."""
        return {name: digest for part in self.shards for name, digest in part.files.items()}


def commit(
    series: Series, release: str, folder: Path, made: AuditedRelease, present: Mapping[str, Any], clock: Clock
) -> ReleaseRecord:
    """Record that a candidate passed its audit.

    `present` is what it was made from (`made_from`).
    """
    contract, parts = series.contract, made.shards
    files = made.files
    if contract.shards > 1:
        files |= merge_shards(series, release, folder, clock)
    seconds = dict(clock.seconds) if contract.shards > 1 else _added(parts[0].seconds, clock.seconds)
    committed = ReleaseRecord(
        made_from=present,
        parameters=contract.principle.model_dump(mode="json"),
        declared=declared(contract),
        promises=made.promises,
        figures=made.figures.as_json() | _widths(parts) | _different_people(parts),
        attack=made.audit.figures,
        verdicts=made.audit.verdicts,
        seconds={name: round(spent, 3) for name, spent in seconds.items()},
        files=files,
    )
    write_committed(folder, committed, series.candidate_key(release))
    return committed


def _widths(parts: Sequence[ShardResult]) -> dict[str, float]:
    """The format's figures: each is a mean over the groups of a shard, and of all groups in the end."""
    groups = sum(part.figures.groups for part in parts)
    return {
        name: sum(part.widths[name] * part.figures.groups for part in parts) / groups if groups else width
        for name, width in parts[0].widths.items()
    }


def _different_people(parts: Sequence[ShardResult]) -> dict[str, int]:
    """The people of all shards, each of whom is in one; nothing where people have one row."""
    counted = [part.different_people for part in parts if part.different_people is not None]
    return {DIFFERENT_PEOPLE: sum(counted)} if counted else {}


def _added(some: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    return {name: some.get(name, 0.0) + more.get(name, 0.0) for name in {**some, **more}}
