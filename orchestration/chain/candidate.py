"""The candidate of a release: computed, audited and committed, or found as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from republish.anonymize.errors import AlreadyPublished
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.audit import NO_EVIDENCE, Judged
from republish.orchestration.chain.commit import AuditedRelease, commit
from republish.orchestration.chain.inputs import made_from
from republish.orchestration.chain.making import Clock, audited, promised, refuse_unfit
from republish.orchestration.chain.population_overlap import refuse_same_people
from republish.orchestration.chain.shard import make_shard
from republish.orchestration.chain.snapshot import identifiers_in, most_people
from republish.orchestration.engine import the_engine
from republish.orchestration.expectations import start_judge
from republish.orchestration.series.lock import locked_for
from republish.orchestration.series.predecessor import Predecessor, predecessor_of
from republish.orchestration.series.recorded import verify
from republish.orchestration.series.release_record import COMMITTED, ReleaseRecord
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import jobs_of

GOING_FORWARD = {"parameters", "algorithm", "layout"}
"""What may change from one release to the next. A published release is not made again for it."""


def compute_candidate(series: Series, release: str) -> ReleaseRecord:
    """Compute, audit and commit the candidate of a release, or find it already committed.

    Raises
    ------
    RepublishError
        As `make_whole` does. Then nothing is committed.
    AlreadyPublished
        If the release is published and was made from other inputs. Parameters are none: a release keeps
        those that it was published with, and the record says that the present ones are not applied.
    """
    start_judge()
    with locked_for(series, release) as folder:
        predecessor = predecessor_of(series, release)
        present = made_from(series, release, predecessor)
        committed = series.committed(release)
        if series.is_published(release):
            return _already_published(series, release, committed, present)
        if committed is not None and committed.made_from == present:
            return committed
        (folder / COMMITTED).unlink(missing_ok=True)
        clock = Clock()
        made = make_whole(series, release, predecessor, folder, clock)
        return commit(series, release, folder, made, present, clock)


def make_whole(
    series: Series, release: str, predecessor: Predecessor, folder: Path, clock: Clock
) -> AuditedRelease:
    """Make all shards of a release in a folder, and judge the whole.

    The folder has snapshots and deltas as a private folder has them.

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
    refuse_unfit(series, release, predecessor)
    jobs = jobs_of(series, release, folder, predecessor)
    refuse_same_people(series, (identifiers_in(job.own) for job in jobs))
    clock.lap("files")
    made, judged, guessed = [], [], None
    for part in the_engine().run(make_shard, jobs, most_people(series, folder)):
        judged.append(Judged.of(part.attacked))
        guessed = part.attacked.guessed  # of one shard: people who are divided have no bound
        made.append(replace(part, attacked=NO_EVIDENCE))  # that of one shard at a time is in memory
    if len(jobs) > 1:
        clock.lap("shards")
    clock.skip()  # a shard alone says itself what its time was spent on
    promises = promised(series.contract, predecessor.promises)
    figures = type(made[0].figures).of_all([part.figures for part in made])
    corrected = sum(part.corrected for part in made)
    found = audited(series, release, judged, figures, promises[-1], corrected, guessed)
    clock.lap("audit")
    return AuditedRelease(made, figures, found, promises)


def _already_published(
    series: Series, release: str, committed: ReleaseRecord | None, present: Mapping[str, Any]
) -> ReleaseRecord:
    """A published release is verified, never computed again."""
    stated = verify(series, release)
    if committed is None:
        published_with = principle_of(series.contract).parameters.model_validate(stated["principle"])
        changed = ["parameters"] if published_with != series.contract.principle else []
        committed = ReleaseRecord(parameters=stated["principle"], is_new=False)
    else:
        # A part of the private folder that is not kept any more has nothing to say.
        made = committed.made_from.items()
        changed = [part for part, value in made if present.get(part) not in (None, value)]
    if not set(changed) <= GOING_FORWARD:
        raise AlreadyPublished(
            f"{series.name} {release} is published, and was made from other inputs than the present ones:"
            f" {', '.join(changed)}. A published release can't be made again: let the change take effect from"
            " the next release on, or begin a new series"
        )
    return replace(committed, not_applied=tuple(changed))
