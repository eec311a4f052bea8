"""Make an audited candidate a fact: once, whole, and after the release before it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from republish.anonymize.attack.figures import ShareFigures
from republish.anonymize.contract import Product, QuerySource
from republish.anonymize.errors import HomeError
from republish.anonymize.principles import principle_of
from republish.orchestration.catalogue.write import write_catalogues
from republish.orchestration.chain.candidate import made_from
from republish.orchestration.chain.changes import as_begun
from republish.orchestration.chain.population_overlap import note_people, refuse_same_people
from republish.orchestration.chain.snapshot import KEPT, LEFT_OUT_STATED, identifiers_in
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.readers.datapackage.folder import column_types, texts
from republish.orchestration.series.homes import name_home
from republish.orchestration.series.lock import locked_for
from republish.orchestration.series.predecessor import predecessor_of
from republish.orchestration.series.recorded import begin, record_publication, verify
from republish.orchestration.series.release_record import CANDIDATE, ReleaseRecord
from republish.orchestration.series.releases_after_backup import refuse_other_bytes
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import shards_of
from republish.orchestration.snapshots.databases import ZONE
from republish.orchestration.snapshots.labels import LABELS_STATED, NO_LABELS, Labels
from republish.orchestration.steps import say_step
from republish.orchestration.storage.home import only_one, public_folder
from republish.orchestration.storage.in_stores import has, put_release
from republish.orchestration.storage.log import note
from republish.orchestration.storage.manifest import BESIDE, COUNTED, MANIFEST, Manifest, manifest, sums
from republish.orchestration.storage.store import SUMS, read_json, sha256, write_folder


@dataclass(frozen=True)
class Publication:
    """A release that is a fact."""

    folder: Path
    manifest: Mapping[str, Any]
    manifest_sha256: str
    is_new: bool
    """Whether it was published just now, rather than found and verified."""


def publish(series: Series, release: str) -> Publication:
    """Publish the committed candidate of a release, or verify that it is published as it was.

    Raises
    ------
    HomeError
        If there is no audited candidate, or it was made from something else than there is now: another
        release before, other parameters.
    ContractError
        If another product has published some of its people meanwhile, and no contract says why it may.
    PublishedFolderError
        If the published folder, or that of the release before, was changed.
    StoreError
        If the contract names an object store that has something else there, or can't be used.
    """
    say_step("publishing it")
    with locked_for(series, release):
        series = as_begun(series, release)
        folder = series.published(release)
        is_new = not series.is_published(release)
        with only_one(series.home.path, "the people of its products", name=".people-lock"):
            if series.contract.published_to:
                _put_missing(series, release)
            committed = _publish(series, release, folder) if is_new else None
            stated = verify(series, release)
            # With what the contract declares of other products.
            digest = record_publication(series, release, committed)
        if is_new:
            note(series.home, "published", series.name, series.file.sha256, release=release)
        name_home(series)
        if series.contract.catalogue:
            write_catalogues(series, series.catalogues)
        _delete_old_private_folders(series, release)
        return Publication(folder=folder, manifest=stated, manifest_sha256=digest, is_new=is_new)


def _publish(series: Series, release: str, folder: Path) -> ReleaseRecord:
    """Publish the candidate of a release; returns that."""
    private = series.private(release)
    committed = _audited(series, release)
    previous = series.calendar.previous(release)
    if previous:
        verify(series, previous)  # the chain would vouch for a manifest that was changed
    people = (identifiers_in(shard.within(private)) for shard in shards_of(series))
    refuse_same_people(series, people)  # another product may have published them since the candidate was made
    begin(series)
    note_people(series, release)
    files, described = files_and_manifest(series, release, committed)

    def last(written: Path, stated: Mapping[str, Any]) -> str:
        refuse_other_bytes(series, release, written)
        text = sums(written, stated)
        if address := _address(series, release):
            # There first: what another home has published there is no fact of this one.
            put_release(address, written, {SUMS: text.encode()})
        return text

    public_folder(folder.parent, series.home.path)
    write_folder(folder, files, lambda written: manifest(described, written), last)
    return committed


def files_and_manifest(
    series: Series, release: str, committed: ReleaseRecord
) -> tuple[dict[str, Path | str], Manifest]:
    """What is published of a committed candidate: its files, and what the manifest states beside them.

    A rehearsed release has the bytes that it would be published with. If the release before was rehearsed
    only, no manifest is before this one's.
    """
    kept = read_json(series.private(release) / KEPT) or {}
    previous = series.calendar.previous(release)
    is_after = previous is not None and series.is_published(previous)
    described = describe(
        series.file,
        release,
        series.calendar.number(release),
        committed.figures,
        committed.attack,
        left_out=kept.get(LEFT_OUT_STATED, {}),
        time_zone=ZONE if isinstance(series.contract.source_of(release), QuerySource) else None,
        previous=sha256(series.published(previous) / MANIFEST) if previous and is_after else None,
    )
    tables = {
        name.removeprefix(CANDIDATE): series.private(release) / name for name in committed.tables(CANDIDATE)
    }
    return with_texts(tables, series.contract, described, kept.get(LABELS_STATED, {})), described


def describe(
    file: ContractFile,
    release: str,
    number: int,
    figures: Mapping[str, float],
    attack: Mapping[str, float | None],
    **further: Any,
) -> Manifest:
    """What a manifest states of a release, from its figures and those of its attack.

    `further` is what else it states: `left_out`, `time_zone`, `previous`.
    """
    contract = file.contract
    principle, sensitive = principle_of(contract), contract.sensitive
    counted: dict[str, Any] = {
        **{name: int(figures[name]) for name in (*COUNTED, *principle.stated) if name in figures},
        **{name: int(attack.get(name) or 0) for name in BESIDE if figures["counterfeits"]},
    }
    is_exposing = figures.get("batch_counterfeits", 0) > 0
    return Manifest(
        product=contract.product,
        series=contract.series,
        release=release,
        n=number,
        format=principle.format(contract).name,
        principle=contract.principle.model_dump(mode="json"),
        **counted,
        exposed=(ShareFigures.of(attack).exposed or 0) if is_exposing else 0,
        deferred=int(attack.get("deferred") or 0),
        lone_ends=None if (lone := attack.get("lone_ends")) is None else int(lone),
        supersedes=contract.supersedes,
        not_sensitive=[] if sensitive is None else list(sensitive.not_sensitive),
        contract_sha256=file.sha256,
        **further,
    )


def with_texts(
    tables: Mapping[str, Path], contract: Product, described: Manifest, labels: Labels = NO_LABELS
) -> dict[str, Path | str]:
    """All files of a published folder but its manifest and sums: its tables, and the texts made of these.

    `labels` are those of the snapshot's codes.
    """
    release_format = principle_of(contract).format(contract)
    stated = described.as_json() | {"files": tables, LABELS_STATED: labels}
    return {**tables, **texts(contract, release_format, stated, column_types(tables))}


def _address(series: Series, release: str) -> str | None:
    """Where in an object store a release is put; None if it is in this home alone."""
    place = series.contract.published_to
    return f"{place}/{series.name}/{release}" if place else None


def _put_missing(series: Series, release: str) -> None:
    """Put the published releases up to this one in the store, if they are not there yet."""
    missing: list[tuple[str, Path]] = []
    for due in reversed(series.calendar.until(release)):
        address, folder = _address(series, due), series.published(due)
        if address is None or not series.is_published(due):
            continue
        if has(f"{address}/{MANIFEST}", (folder / MANIFEST).read_bytes()):
            break
        missing.append((address, folder))
    for address, folder in reversed(missing):
        put_release(address, folder, {})


def _audited(series: Series, release: str) -> ReleaseRecord:
    """The candidate, if it is the one that its audit and the releases before it speak for."""
    committed = series.committed(release)
    if committed is None:
        raise HomeError(
            f"{series.name} {release}: there is no candidate with an audit passed. Materialize"
            f" {series.contract.product}/release first, or run republish release"
        )
    previous = series.calendar.previous(release)
    if previous and not series.is_published(previous):
        raise HomeError(
            f"{series.name} {release}: the release before, {previous}, is not published yet. Publish it first"
        )
    if committed.made_from != made_from(series, release, predecessor_of(series, release)):
        raise HomeError(
            f"{series.name} {release}: its snapshot, the release before or the parameters changed since the"
            f" candidate was made. Materialize {series.contract.product}/release once more"
        )
    return committed


def _delete_old_private_folders(series: Series, release: str) -> None:
    """Delete what the contract says is not to be kept; the last state is all that the next release needs."""
    keep = series.contract.keep_private
    if keep == "all":
        return
    published = [due for due in series.calendar.until(release) if series.is_published(due)]
    for old in published[:-keep]:
        shutil.rmtree(series.private(old), ignore_errors=True)
