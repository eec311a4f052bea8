"""What is recorded of a series: begun with which terms, which releases are facts, and as which bytes."""

from __future__ import annotations

import hmac
import logging
from importlib.metadata import version
from pathlib import Path
from typing import Any

from republish.anonymize.errors import HomeError, PublishedFolderError
from republish.orchestration.series.facts import (
    ALONE,
    BEFORE,
    FACTS,
    FIRST,
    SHARDS,
    Facts,
    facts_of,
    key_fingerprint,
    write_facts,
)
from republish.orchestration.series.other_series import began_alone
from republish.orchestration.series.record import joined_buckets, release_row
from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import MANIFEST, verify_release, verify_series
from republish.orchestration.storage.store import read_json, read_table, sha256

_log = logging.getLogger(__name__)


def terms_of(series: Series) -> dict[str, str | int | list[str] | None]:
    """Terms of a contract that can't change within its series."""
    contract = series.contract
    sensitive = [one.name for _, one in contract.sensitive_columns()]
    return {
        "key_fingerprint": series.key_fingerprint,
        "identifier": contract.identifier,
        **contract.model_dump(include={"rows"}),  # nothing where people have one row
        "sensitive": sensitive if len(sensitive) > 1 else next(iter(sensitive), None),
        "principle": contract.principle.name,
        "supersedes": contract.supersedes,
        SHARDS: contract.shards,
        "software_version": version("republish"),
    }


def recorded_facts(series: Series) -> Facts:
    """The sealed facts of a series; before its first release, there may be none.

    Raises HomeError if they are gone or were changed, or the series was begun with another key.
    """
    file = series.private_folder / FACTS
    if not file.exists() and not series.releases:  # nor may there be a key
        return Facts({}, {})
    facts = facts_of(series)
    if facts is not None:
        return facts
    begun_with = key_fingerprint(file)
    if begun_with is not None and not hmac.compare_digest(begun_with, series.key_fingerprint):
        raise HomeError(
            f"series {series.name} was begun with another key, and its signatures can be kept under that one"
            " only. Restore secret.key or REPUBLISH_KEY, or begin a new series"
        )
    raise HomeError(
        f"{file}: says what series {series.name} was begun with, and is not there or was changed. Put it back"
        " from a copy, or begin a new series"
    )


def begin(series: Series) -> None:
    """Note what a series is begun with, before its first release is published."""
    if not series.releases:
        chain = series.chain
        begun = {FIRST: chain.first, BEFORE: chain.releases_before, ALONE: began_alone(series)}
        write_facts(series, Facts({**terms_of(series), **begun}, {}, series.contract.same_people))


def record_publication(series: Series, release: str, committed: ReleaseRecord | None = None) -> str:
    """Note that a release is a fact, and in history; returns the SHA-256 (hex) of its manifest.

    `committed` is its candidate, where its files were compared with it just now.
    """
    digest = sha256(series.published(release) / MANIFEST)
    facts = recorded_facts(series)
    if facts.published.get(release) != digest:
        facts = facts.with_release(release, digest, series.contract.same_people)
        write_facts(series, facts)
    # The earlier ones, too, if the history turns out to be damaged and is begun anew.
    entered = series.history.published(series.product, series.series)
    for one, vouched in sorted(facts.published.items(), reverse=True):
        if entered.get(one) != vouched:
            _enter(series, one, vouched, committed if one == release else None)
    return digest


def _enter(series: Series, release: str, manifest_sha256: str, known: ReleaseRecord | None) -> None:
    """Enter a published release into history, by its candidate if that is known to be as it was."""
    stated, committed = read_json(series.published(release) / MANIFEST), known or series.committed(release)
    assert stated is not None
    files = {} if committed is None else committed.files
    own = sorted(name for name in files if Path(name).name == "buckets.parquet")
    buckets = joined_buckets([read_table(series.private(release) / name) for name in own])
    series.history.enter(release_row(stated, committed, manifest_sha256), buckets)
    if committed is None:
        _log.warning(
            "%s: of %s %s it has what the manifest states and no more: its private folder is not kept",
            series.history.file,
            series.name,
            release,
        )


def verify(series: Series, release: str) -> dict[str, Any]:
    """Check that a published release is as it was published; returns its manifest.

    Raises
    ------
    PublishedFolderError
        Naming the file that is not what its manifest, or for the manifest what the series, says.
    """
    stated = verify_release(series.published(release))
    manifest = series.published(release) / MANIFEST
    vouched = recorded_facts(series).published.get(release)
    if vouched not in (None, sha256(manifest)):
        raise PublishedFolderError(
            f"{manifest}: was changed after publication (other SHA-256 than in"
            f" {series.private_folder / FACTS}). Put it back from a copy"
        )
    return stated


def verify_published(series: Series) -> None:
    """Check that all published releases are as they were published, and follow one another.

    Raises
    ------
    PublishedFolderError
        Naming the first file or folder that is not.
    """
    if releases := series.releases:
        verify_series(series.published_folder)
        verify(series, releases[-1])  # no later manifest vouches for the last one: the facts do
