"""Manifests, compared with each other and with the published tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.attack.finding import Count
from republish.anonymize.columns import least_of
from republish.anonymize.promise.rules import CHAIN, CLAIMS
from republish.orchestration.audit.read.folders import PublishedSeries, ReleaseFiles
from republish.orchestration.audit.read.material import Material, Turn
from republish.orchestration.storage.manifest import BESIDE, MANIFEST
from republish.orchestration.storage.parts import table_of
from republish.orchestration.storage.store import read_json, sha256


def chain_finding(turn: Turn) -> pl.DataFrame | None:
    """Whether a release follows the one before it in the folder of its series; None without any manifest.

    All releases in the folder count, also those that are not audited. Manifests can be written anew after a
    release was taken out. So it breaks the chain, too, if the private folder has a release of the series that
    is not there. It is not decided if a true table is of none of these releases, but perhaps of one that was
    left out (also of releases without manifests), or if the private folder has releases after the last one.
    """
    material, series, release = turn.material, turn.series, turn.release
    is_last = turn.number == len(series.releases)
    others = len(material.unreleased) if is_last else 0
    if all(one.manifest is None for one in series.releases):
        return CHAIN.finding(Count(others, 0, undecided=others)) if others else None
    if release.manifest is None:
        return CHAIN.finding(Count(1, 1))
    folders = sorted(
        folder
        for folder in release.path.parent.iterdir()
        if folder.is_dir() and not folder.name.startswith(".") and any(folder.iterdir())
    )
    place = folders.index(release.path)
    before = folders[place - 1] / MANIFEST if place else None
    follows = {
        "release": release.path.name,
        "n": place + 1,
        "previous": sha256(before) if before is not None and before.is_file() else None,
    }
    first = folders[0] / MANIFEST
    origin = ReleaseFiles(folders[0].name, folders[0], read_json(first)) if first.is_file() else release
    holds = release.series == origin.series and all(
        _is_same(release.manifest.get(part), told) for part, told in follows.items()
    )
    names = [folder.name for folder in folders]
    before_it = names[place - 1] if place else ""
    made = _made(series, material) - {*names}
    is_broken = not holds or any(before_it < name < release.path.name for name in made)
    if is_last:
        others = max(others, sum(name > names[-1] for name in made))
    return CHAIN.finding(Count(1 + others, int(is_broken), undecided=others))


def _made(series: PublishedSeries, material: Material) -> set[str]:
    """The releases of a series that the private folder has a linkage of."""
    own = Path(series.name)
    return {
        place.name
        for place in (material.reading.linked_in(material.private) if material.private else ())
        if place.parent == material.private
        or (place.parent.name == own.name and place.parents[1].name == own.parent.name)
    }


def claims_finding(
    turn: Turn, tables: Mapping[str, pl.DataFrame], people: int, left_out: Mapping[str, int]
) -> pl.DataFrame | None:
    """How many of a manifest's claims the published tables contradict; None without a manifest.

    Parameters
    ----------
    turn, tables
        What is published.
    people
        How many people the truth has, but for those who are left out.
    left_out
        How many of these there are, by the column that has no value of theirs.
    """
    release = turn.release
    if release.manifest is None:
        return None
    main, *_ = turn.format.tables(turn.contract)
    counterfeits = int(tables["counterfeits"]["count"].sum()) if "counterfeits" in tables else 0
    rows = len(tables[main])
    claims: dict[str, Any] = {
        "tuples": rows,
        "counterfeits": counterfeits,
        "held_back": people - (rows - counterfeits),
    }
    if "group_id" in tables[main].columns:
        claims["groups"] = tables[main]["group_id"].drop_nulls().n_unique()
    if BESIDE[0] in release.manifest:
        claims |= _beside_counterfeits(tables, main)
    if left_out or "left_out" in release.manifest:
        claims["left_out"] = dict(left_out)
    wrong = [name for name, found in claims.items() if not _is_same(release.manifest.get(name), found)]
    files = release.manifest["files"]
    for table in filter(None, {*map(table_of, files)}):
        parts = [file for file in files if table_of(file) == table]
        if table not in tables or sum(files[file]["rows"] for file in parts) != len(tables[table]):
            wrong += parts
    return CLAIMS.finding(Count(len(claims) + len(files), len(wrong)))


def _beside_counterfeits(tables: Mapping[str, pl.DataFrame], main: str) -> dict[str, int]:
    """How many people share a group with a counterfeit, and how few a group has, by the published tables."""
    forged = tables["counterfeits"].select("group_id", "count")
    rows = (
        tables[main].drop_nulls("group_id").group_by("group_id").len().join(forged, on="group_id", how="left")
    )
    people = rows.select(pl.col("len").cast(pl.Int64) - pl.col("count").fill_null(0), beside="count")
    beside = people.filter(pl.col("beside") > 0)["len"].sum()
    return dict(zip(BESIDE, (int(beside), int(least_of(people["len"]) or 0)), strict=True))


def held_back(release: ReleaseFiles) -> int:
    """How many people a release says it holds back; none if it doesn't say so in a way that can be read."""
    stated = (release.manifest or {}).get("held_back")
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0 else 0


def _is_same(stated: Any, found: Any) -> bool:
    """Whether they are equal and of one type: in JSON, true is not 1."""
    return type(stated) is type(found) and stated == found
