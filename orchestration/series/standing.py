"""The standing of a series in numbers, for whoever watches it: nothing in it is about a person."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import Any

from republish.anonymize.errors import as_data
from republish.anonymize.people.rows import has_several_rows
from republish.orchestration.series.facts import facts_of
from republish.orchestration.series.release_record import DIFFERENT_PEOPLE
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import COUNTED, MANIFEST
from republish.orchestration.storage.store import read_json


def standing(series: Series) -> dict[str, Any]:
    """The releases that are published and due, and the counts of the last one.

    Counts are those of its manifest; while its working files are kept, `figures` are all those of the
    principle, `checks` how many it passed, and `seconds` what it took. Where people may have several rows,
    both `rows` and `people` are counted; nothing published says how many people there are. Of releases that
    are `gone`, the folder is not there any more.
    """
    contract = series.contract
    releases, facts = series.releases, facts_of(series)
    found: dict[str, Any] = {
        "product": contract.product,
        "series": contract.series,
        "releases": len(releases),
        "last_release": releases[-1] if releases else None,
        "next_due": series.next_due,
        "late": series.late,
        "gone": sorted(facts.published.keys() - set(releases)) if facts else [],
    }
    if not releases:
        return found
    manifest = series.published(releases[-1]) / MANIFEST
    stated = read_json(manifest) or {}
    since = dt.datetime.fromtimestamp(manifest.stat().st_mtime, dt.UTC)
    found |= {"published_at": since.isoformat(timespec="seconds")}
    found |= {name: stated[name] for name in ("n", *COUNTED) if name in stated}
    found |= {"not_released": not_released(series, releases)}
    if (record := series.record(releases[-1])) is None:
        return found
    people = record.counts.people if record.counts else None
    several = {"rows": people, "people": record.figures.get(DIFFERENT_PEOPLE)}
    passed = sum(verdict.passed for verdict in record.verdicts)
    return found | {
        **(several if has_several_rows(series.contract) else {"people": people}),
        "figures": dict(record.figures),
        "attack": dict(record.attack),
        "checks": {"passed": passed, "failed": len(record.verdicts) - passed},
        "seconds": dict(record.seconds),
    }


def not_released(series: Series, releases: Iterable[str]) -> dict[str, int]:
    """People of the tables who are in no row of a release, by the reason, most first; nobody: no reason.

    They are those of all the releases together, by their manifests. A person counts once in each release:
    that it is the same person in two of them is said nowhere.
    """
    counted: Counter[str] = Counter()
    for release in releases:
        stated = read_json(series.published(release) / MANIFEST) or {}
        missing = {f"without {column}": people for column, people in stated.get("left_out", {}).items()}
        counted.update({"held back": stated.get("held_back", 0)} | missing)
    return {reason: people for reason, people in counted.most_common() if people}


def not_released_in_words(counted: dict[str, int]) -> str:
    """Them in a part of a sentence; empty if everybody was released."""
    each = ", ".join(f"{people:,} {as_data(reason)}" for reason, people in counted.items())
    return f"not released, in all releases together: {each}" if each else ""
