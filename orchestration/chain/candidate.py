"""The candidate of a release: made of its shards, audited and committed, or found as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.columns import CORRECTED
from republish.anonymize.contract.expected import describe_expected, describe_odd, expected_of_release
from republish.anonymize.errors import AlreadyPublished, NotEligible, SnapshotError
from republish.anonymize.principle.candidate import ReleaseFigures
from republish.anonymize.principles import parameters_stated, principle_of
from republish.orchestration.chain.audit import NO_EVIDENCE, Audit, Judged, audit, refuse_broken
from republish.orchestration.chain.changes import as_begun, declared, refuse_changes
from republish.orchestration.chain.delta import EXPECTED
from republish.orchestration.chain.merging import merge_shards
from republish.orchestration.chain.population_overlap import refuse_same_people
from republish.orchestration.chain.shard import Clock, ShardResult, make_shard, promised
from republish.orchestration.chain.snapshot import KEPT, content_digest, identifiers_in, most_people
from republish.orchestration.engine import the_engine
from republish.orchestration.expectations import Verdict, judge, start_judge
from republish.orchestration.series.lock import locked_for
from republish.orchestration.series.predecessor import Predecessor, predecessor_of, verify_predecessor
from republish.orchestration.series.recorded import verify
from republish.orchestration.series.release_record import (
    COMMITTED,
    DIFFERENT_PEOPLE,
    STATE,
    ReleaseRecord,
    write_committed,
)
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import jobs_of
from republish.orchestration.snapshots.previous import read_previous
from republish.orchestration.storage.store import read_json

GOING_FORWARD = {"parameters", "algorithm", "layout"}
"""What may change from one release to the next. A published release is not made again for it."""
LAYOUT = "dated tables"
"""How tables are laid out in files: a candidate of another layout is made anew before it is published."""


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
        series = as_begun(series, release)
        predecessor = predecessor_of(series, release)
        present = made_from(series, release, predecessor)
        committed = series.committed(release)
        if series.is_published(release):
            return _already_published(series, release, committed, present)
        if committed is not None and committed.made_from == present:
            return committed
        (folder / COMMITTED).unlink(missing_ok=True)
        made = make_whole(series, release, predecessor, folder)
        committed = replace(made, made_from=present)
        write_committed(folder, committed, series.candidate_key(release))
        return committed


def made_from(series: Series, release: str, predecessor: Predecessor) -> dict[str, Any]:
    """Everything that a release's published bytes depend on, as it is now."""
    snapshot = read_json(series.private(release) / KEPT) or {}
    return {
        "number": series.chain_number(release),
        "snapshot": snapshot.get("sha256"),
        "release before": predecessor.committed.tables(STATE) if predecessor.committed else None,
        "algorithm": principle_of(series.contract).version,
        "parameters": series.contract.privacy_digest(),
        "key": series.key_fingerprint,
        "layout": LAYOUT,
        "shards": series.contract.shards,
        **_previous_digest(series, release),
    }


def _previous_digest(series: Series, release: str) -> dict[str, Any]:
    """A digest of the other products' releases, if there are any; of a published release they may be gone."""
    if not principle_of(series.contract).previous(series.contract):
        return {}
    try:
        tables = read_previous(series.file)
    except SnapshotError:
        if series.is_published(release):
            return {}
        raise
    return {"previous releases": {name: content_digest(table) for name, table in tables.items()}}


def _already_published(
    series: Series, release: str, committed: ReleaseRecord | None, present: Mapping[str, Any]
) -> ReleaseRecord:
    """A published release is verified, never computed again."""
    stated = verify(series, release)
    if committed is None:
        published_with = parameters_stated(stated["principle"])
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


def make_whole(series: Series, release: str, predecessor: Predecessor, folder: Path) -> ReleaseRecord:
    """Make all shards of a release in a folder, judge the whole, and merge them.

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
    clock, contract = Clock(), series.contract
    verify_predecessor(series, release, predecessor)
    refuse_changes(series.file, release, predecessor.declared)
    jobs = jobs_of(series, release, folder, predecessor)
    refuse_same_people(series, (identifiers_in(job.own) for job in jobs))
    clock.lap("files")
    shards: list[ShardResult] = []
    judged: list[Judged] = []
    guessed = None
    for one in the_engine().run(make_shard, jobs, most_people(series, folder)):
        judged.append(Judged.of(one.attacked))
        guessed = one.attacked.guessed  # of one shard: people who are divided have no bound
        shards.append(replace(one, attacked=NO_EVIDENCE))  # that of one shard at a time is in memory
    if contract.shards > 1:
        clock.lap("shards")
    else:
        clock.add(shards[0].seconds)
    figures = type(shards[0].figures).of_all([one.figures for one in shards])
    corrected = sum(one.corrected for one in shards)
    found = _judged(series, release, judged, figures, corrected, guessed)
    clock.lap("audit")
    files = {name: digest for one in shards for name, digest in one.files.items()}
    if contract.shards > 1:
        files |= merge_shards(series, release, folder)
        clock.lap("merging")
    return ReleaseRecord(
        parameters=contract.principle.model_dump(mode="json"),
        declared=declared(contract),
        promises=promised(contract, predecessor.promises),
        figures=figures.as_json() | _widths(shards) | _different_people(shards),
        attack=found.figures,
        verdicts=found.verdicts,
        seconds=clock.seconds,
        files=files,
    )


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


def _judged(
    series: Series,
    release: str,
    judged: Sequence[Judged],
    figures: ReleaseFigures,
    corrected: int,
    guessed: float | None,
) -> Audit:
    """The audit of a candidate, which is refused if it breaks a promise or is not ordinary.

    `corrected` is how many sensitive values were wrong so far; `guessed` the share that is guessed right.
    """
    where, contract = f"{series.name} {release}", series.contract
    refuse_nobody(figures, where)
    ordinary = _judge_ordinary(series, release, figures, corrected, guessed)
    found = audit(judged, contract, principle_of(contract).promise(contract.principle))
    found = replace(found, verdicts=(*found.verdicts, ordinary))
    refuse_broken(where, found.verdicts)
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
            " refuse says what is too frequent); or begin with a later release (releases.first, or dates)"
            if held_back
            else "release a snapshot that has people in it, or end the series before it (last, or dates)"
        )
    )


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
