"""Make an audited candidate a fact: once, whole, and after the release before it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from anonymize.errors import HomeError
from orchestration.home import private_folder
from orchestration.manifest import MANIFEST, Described, manifest, verify_release
from orchestration.principles import principle_of
from orchestration.series import Series
from orchestration.steps.candidate import COMMITTED, read_committed
from orchestration.store import read_json, sha256, write_folder


@dataclass(frozen=True)
class Published:
    """A release that is a fact."""

    folder: Path
    manifest: dict
    manifest_sha256: str
    is_new: bool
    """Whether it was published just now, rather than found and verified."""


def publish(series: Series, release: str) -> Published:
    """Publish the committed candidate of a release, or verify that it is published as it was.

    Raises
    ------
    HomeError
        If there is no audited candidate, or it was built on another release than the one published
        before it.
    PublishedFolderError
        If the published folder was changed.
    """
    with series.held(release):
        folder = series.published(release)
        is_new = not series.is_published(release)
        if is_new:
            _publish(series, release, folder)
        stated = verify_release(folder)
        digest = sha256(folder / MANIFEST)
        series.history.record_publication(series.contract.product, series.contract.series, release, digest)
        _delete_old_private_folders(series, release)
        return Published(folder=folder, manifest=stated, manifest_sha256=digest, is_new=is_new)


def _publish(series: Series, release: str, folder: Path) -> None:
    private = series.private(release)
    committed = read_committed(private)
    if committed is None:
        raise HomeError(f"{series.name} {release}: there is no candidate with an audit passed to publish")
    previous = series.previous(release)
    if previous and not series.is_published(previous):
        raise HomeError(f"{series.name} {release}: the release before, {previous}, is not published yet")
    series.begin()
    figures = committed.figures
    described = Described(
        product=series.contract.product,
        series=series.contract.series,
        release=release,
        n=series.number(release),
        principle=read_json(private / COMMITTED)["parameters"],
        tuples=figures["tuples"],
        groups=figures["groups"],
        counterfeits=figures["counterfeits"],
        held_back=figures["held_back"],
        contract_sha256=series.file.sha256,
        previous=sha256(series.published(previous) / MANIFEST) if previous else None,
    )
    tables = {
        name: pl.read_parquet(private / f"candidate-{name}.parquet")
        for name in principle_of(series.contract).tables
    }
    private_folder(folder.parent)
    write_folder(folder, tables, lambda written: manifest(described, written))


def _delete_old_private_folders(series: Series, release: str) -> None:
    """Delete what the contract says is not to be kept; the last state is all that the next release needs."""
    keep = series.contract.keep_private
    if keep == "all":
        return
    published = [due for due in series.due[: series.number(release)] if series.is_published(due)]
    for old in published[:-keep]:
        shutil.rmtree(series.private(old), ignore_errors=True)
