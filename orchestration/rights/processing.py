"""The record of processing: what is published of people, why, by whom, and what was found and decided."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from anonymize.principles import principle_of
from orchestration.readers.datapackage.words import several_columns
from orchestration.series.persons import forgotten
from orchestration.series.series import Series
from orchestration.series.siblings import published_releases
from orchestration.storage.log import LOG, verify_log
from orchestration.storage.manifest import MANIFEST
from orchestration.storage.store import sha256


def record(series: Series, date: str) -> dict[str, Any]:
    """Everything that the record says, as plain JSON values; no person is in it.

    Parameters
    ----------
    series
        Whose releases it is about.
    date
        The day of the record, YYYY-MM-DD.

    Raises
    ------
    PublishedFolderError
        If a published release is not as it was published.
    HomeError
        If the home's log was changed.

    References
    ----------
    Regulation (EU) 2016/679 (GDPR), Article 30 (1).
    """
    contract, home = series.contract, series.home
    principle, gone = principle_of(contract), forgotten(home, contract.product)
    return {
        "date": date,
        "product": contract.product,
        "series": contract.series,
        "title": contract.title or contract.product,
        "description": contract.description,
        "contact": contract.contact,
        "owners": list(contract.owners),
        "governance": contract.governance.model_dump(exclude_none=True),
        "identifier": contract.identifier,
        "columns": _columns(series),
        "principle": contract.principle.model_dump(mode="json"),
        "promised": [
            *principle.promise(contract.principle).sentences(),
            *several_columns([one.name for _, one in contract.sensitive_columns()]),
        ],
        "keep_private": contract.keep_private,
        "retention": None if contract.retention is None else contract.retention.model_dump(mode="json"),
        "releases": [_release(series, name) for name in _published(series)],
        "forgotten": {
            "people": gone["person"].n_unique(),
            "never_again": gone.filter(~gone["again"])["person"].n_unique(),
        },
        "log_lines": len(verify_log(home).lines) if (home.path / LOG).exists() else 0,
        "contract_sha256": series.file.sha256,
        "software": f"republish {version('republish')}",
    }


def _columns(series: Series) -> list[dict[str, Any]]:
    contract = series.contract
    listed = [
        {"name": one.name, "role": contract.ROLE, "description": one.description}
        for _, one in contract.attributes()
    ]
    sensitive = (one for _, one in contract.sensitive_columns())
    return listed + [
        {"name": one.name, "role": "sensitive", "description": one.description} for one in sensitive
    ]


def _published(series: Series) -> list[str]:
    return published_releases(series.home, series.contract.product, series.contract.series)


def _release(series: Series, name: str) -> dict[str, Any]:
    """A release as its manifest states it, what was found before it was published, and what was accepted."""
    stated, contract = series.verify(name), series.contract
    committed, accepted = series.record(name), contract.accept.get(name)
    verdicts = [] if committed is None else committed.verdicts
    return {
        "release": name,
        "n": stated["n"],
        "people": stated["tuples"] - stated["counterfeits"],
        **{count: stated[count] for count in ("tuples", "groups", "counterfeits", "held_back")},
        "principle": stated["principle"],
        "found": [{"check": one.promise, "passed": one.passed, "words": one.found} for one in verdicts],
        "accepted": None if accepted is None else accepted.model_dump(mode="json"),
        "manifest_sha256": sha256(series.published(name) / MANIFEST),
    }
