"""The standing of a series in numbers, for whoever watches it: nothing in it is about a person."""

from __future__ import annotations

import datetime as dt
from typing import Any

from republish.orchestration.series.other_series import published_releases
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import COUNTED, MANIFEST
from republish.orchestration.storage.store import read_json


def standing(series: Series) -> dict[str, Any]:
    """The releases that are published and due, and the counts of the last one.

    Counts are those of its manifest; while its working files are kept, `figures` are all those of the
    principle, `checks` how many it passed, and `seconds` what it took.
    """
    contract = series.contract
    releases = published_releases(series.home, contract.product, contract.series)
    found: dict[str, Any] = {
        "product": contract.product,
        "series": contract.series,
        "releases": len(releases),
        "last_release": releases[-1] if releases else None,
        "next_due": series.next_due,
        "late": series.late,
    }
    if not releases:
        return found
    manifest = series.published(releases[-1]) / MANIFEST
    stated = read_json(manifest) or {}
    since = dt.datetime.fromtimestamp(manifest.stat().st_mtime, dt.UTC)
    found |= {"published_at": since.isoformat(timespec="seconds")}
    found |= {name: stated[name] for name in ("n", *COUNTED) if name in stated}
    if (record := series.record(releases[-1])) is None:
        return found
    passed = sum(verdict.passed for verdict in record.verdicts)
    return found | {
        "people": record.counts.people if record.counts else None,
        "figures": dict(record.figures),
        "attack": dict(record.attack),
        "checks": {"passed": passed, "failed": len(record.verdicts) - passed},
        "seconds": dict(record.seconds),
    }
