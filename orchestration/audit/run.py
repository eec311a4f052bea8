"""An audit: every series attacked, or every shard of them, then all series together."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

import polars as pl

from republish.anonymize.contract import Product
from republish.anonymize.promise import Promise
from republish.orchestration.audit.by_shard import attack_by_shard, steps_by_shard
from republish.orchestration.audit.findings import AttackedSeries, Findings
from republish.orchestration.audit.gaps import not_covered
from republish.orchestration.audit.read.material import Material, promises_of
from republish.orchestration.audit.series import attack_series


def steps(material: Material) -> int:
    """How many steps `attack` takes, for a progress bar."""
    times = 2 if _never_took_up(material) else 1
    if material.goes_by_shard:
        return times * steps_by_shard(material)
    return times * sum(len(one.releases) + 2 for one in material.series)


def _never_took_up(material: Material) -> list[str]:
    """The series whose last release promises something else than the contract asks for."""
    gone_on = [one.before.name for one in material.series if one.before]
    return [
        one.name
        for one in material.series
        if one.name not in gone_on and promises_of(material, one, len(one.releases))[-1] != material.asked
    ]


def attack(material: Material, seconds: float) -> Iterator[str | Findings]:
    """Run every attack; yields the name of each step as it begins, and the findings at the end.

    Everybody is judged by what the release promised that published them first. Where the last release of a
    series does not promise what the contract asks for, the attacks are run again, and everybody in that
    series is judged by the contract.

    Parameters
    ----------
    material
        What to read.
    seconds
        Time for the equivalence attack on each series.
    """
    found = yield from _attack(material, seconds)
    if never := _never_took_up(material):
        judged_by_contract = replace(material, believes_manifests=False, measures=False)
        asked = yield from _attack(judged_by_contract, seconds)
        found = replace(found, asked=asked.promises().filter(pl.col("series").is_in(never)))
    yield found


def _attack(material: Material, seconds: float) -> Generator[str, None, Findings]:
    attacked = attack_by_shard if material.goes_by_shard else attack_series
    found = yield from attacked(material, seconds)
    return Findings(
        material.contract,
        material.asked,
        found,
        _together(found, material.asked, material.contract),
        not_covered(material, found),
    )


def _together(attacked: list[AttackedSeries], asked: Promise, contract: Product) -> pl.DataFrame | None:
    """All series are out there: what is left of each person when they are intersected with each other.

    A series that goes on from another one was attacked with it already, and stands for both.
    """
    gone_on = [one.before.name for one in attacked if one.before]
    known = [one.knowledge for one in attacked if one.name not in gone_on]
    if len(known) < 2:
        return None
    rows = [
        part.scopes[scope].finding(count)
        for part in asked
        if (found := part.attack_together(known, part, contract)) is not None
        for scope, count in found.each()
    ]
    return pl.concat(rows) if rows else None
