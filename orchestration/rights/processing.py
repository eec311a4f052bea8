"""The record of processing: what is published of people, why, by whom, and what was found and decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from republish.anonymize.principles import principle_of
from republish.orchestration.readers.datapackage.words import TERMS, several_columns
from republish.orchestration.series.persons import forgotten
from republish.orchestration.series.recorded import verify
from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.series.series import Series
from republish.orchestration.storage.log import LOG, verify_log
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.store import sha256

SHORT = 60
"""Signs of a declared value that the record writes out."""


def record(series: Series, date: str) -> dict[str, Any]:
    """Everything that the record says, as plain JSON values; no person is in it.

    `date` is the day of the record, YYYY-MM-DD.

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
        "terms": contract.governance.terms or TERMS,
        "identifier": contract.identifier,
        "columns": _columns(series),
        "principle": contract.principle.model_dump(mode="json"),
        "promised": [
            *principle.promise(contract.principle).sentences(),
            *several_columns([one.name for _, one in contract.sensitive_columns()]),
        ],
        "keep_private": contract.keep_private,
        "retention": None if contract.retention is None else contract.retention.model_dump(mode="json"),
        "releases": _releases(series),
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
    sensitive = [one for _, one in contract.sensitive_columns()]
    return [
        {
            "name": one.name,
            "role": "sensitive" if one in sensitive else contract.ROLE,
            "description": one.description,
        }
        for _, one in contract.all_columns()
    ]


def _releases(series: Series) -> list[dict[str, Any]]:
    """Each release, with what its contract declares otherwise than that of the release before."""
    listed, before = [], dict[str, Any]()
    for name in series.releases:
        stated, committed = verify(series, name), series.record(name)
        # Of working files that were deleted, the manifest is left.
        declared = {**(committed.declared if committed else {}), "principle": stated["principle"]}
        changes = [_change(series, name, *one) for one in _differences(before, declared)]
        listed.append(_release(series, name, stated, committed) | {"changes": changes})
        before = {**before, **declared}
    return listed


def _release(
    series: Series, name: str, stated: Mapping[str, Any], committed: ReleaseRecord | None
) -> dict[str, Any]:
    """A release as its manifest states it, what was found before it was published, and what was accepted."""
    accepted = series.contract.accept.get(name)
    verdicts = [] if committed is None else committed.verdicts
    return {
        "release": name,
        "n": stated["n"],
        "people": stated["tuples"] - stated["counterfeits"],
        **{count: stated[count] for count in ("tuples", "groups", "counterfeits", "held_back")},
        "principle": stated["principle"],
        "expect": None if committed is None else committed.declared.get("expect"),
        "found": [{"check": one.promise, "passed": one.passed, "words": one.found} for one in verdicts],
        "accepted": None if accepted is None else accepted.model_dump(mode="json"),
        "manifest_sha256": sha256(series.published(name) / MANIFEST),
    }


def _change(series: Series, release: str, what: str, before: Any, now: Any) -> dict[str, Any]:
    """A change, and who answers for it if the contract accepts it by name."""
    accepted = series.contract.accept.get(release)
    is_named = accepted is not None and not {what, what.partition(".")[0]}.isdisjoint(accepted.what)
    by, because = (accepted.by, accepted.because) if accepted is not None and is_named else (None, None)
    return {"what": what, "before": _short(before), "now": _short(now), "by": by, "because": because}


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Differences of two contracts in parts that both have, by the names that accept them."""
    both = before.keys() & now.keys()
    former, today = (_parts({key: declared[key] for key in both}) for declared in (before, now))
    for name in [*former, *(name for name in today if name not in former)]:
        one, other = former.get(name), today.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            keys = [*one, *(key for key in other if key not in one)]
            yield from ((f"{name}.{k}", one.get(k), other.get(k)) for k in keys if one.get(k) != other.get(k))
        elif one != other:
            yield name, one, other


def _parts(declared: Mapping[str, Any]) -> dict[str, Any]:
    """A contract's declarations by parameter and column; `expect` and `sensitive` as a whole."""
    parts = dict(declared.get("principle", {}))
    parts |= {key: declared[key] for key in ("expect", "sensitive") if isinstance(declared.get(key), dict)}
    lists = (part for part in declared.values() if isinstance(part, list))
    return parts | {column["name"]: column for columns in lists for column in columns}


def _short(declared: Any) -> str:
    """A declared value in a few words: a column, a hierarchy and a long list are not written out."""
    if isinstance(declared, dict):
        return "declared"
    text = "not declared" if declared is None else json.dumps(declared, ensure_ascii=False).strip('"')
    return text if len(text) <= SHORT else f"{len(declared):,} entries"
