"""The candidate values that are left to an adversary, by what they know, and signatures that do not stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from republish.anonymize.attack.combinations import Combinations
from republish.anonymize.attack.figures import CandidateFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.intersection import candidates, changed, intersected
from republish.anonymize.attack.invariance import moved_people
from republish.anonymize.attack.judged import Bounds, judged, promised
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.numbers import is_repeated, joined
from republish.anonymize.attack.stays import Stays
from republish.anonymize.columns import VALUE, counted, least_of
from republish.anonymize.figures import mean, reached


def attack_candidates(seen: AttackInput, least: Bounds[int]) -> AttackResult:
    """Intersect each person's candidate values over all releases so far."""
    covered, hosted = seen.knowledge.covered, seen.knowledge.hosted
    assert covered is not None
    left = _left(seen, covered, "value", least)
    kept = None if hosted is None else _left(seen, hosted, "value", least)
    found = AttackResult(
        figures=_figures(seen, left, kept, least), table=_signatures(seen) if seen.is_linked else None
    )
    if all(bound is None for bound in least):
        return found
    counts: dict[str, Sequence[Count]] = {"covered": _judged(left, least, seen.excused)}
    if hosted is not None and kept is not None and seen.is_linked:
        counts = {"hosts": _judged(kept, least), **counts, "changed": _after_a_change(seen, hosted, least)}
    counts |= {"signatures": staying} if (staying := _staying(seen, least)) else {}
    return AttackResult(counts, found.figures, found.table)


def attack_several_series(series: Sequence[Knowledge], least: int) -> AttackResult:
    """Intersect several series with each other, by what is known of each in the end."""
    parts = {
        "hosts together": [one.hosted for one in series],
        "covered together": [one.covered for one in series],
    }
    counts = {}
    for scope, states in parts.items():
        known = [state for state in states if state is not None]
        if len(known) == len(series):
            wide = max((one.domain for one in series if one.domain is not None), key=len, default=None)
            left = candidates(known, combinations=Combinations.of(wide), enough=least)
            few = left.filter(pl.col("candidates") < least)["person"].n_unique()
            counts[scope] = Count(left["person"].n_unique(), few, least_of(left["candidates"]), least)
    return AttackResult(counts)


def _left(seen: AttackInput, state: pl.DataFrame, scope: str, least: Bounds[int]) -> pl.DataFrame:
    """Count what is left of each person by one kind of knowledge, as `candidates` does."""
    enough = max((bound for bound in least if bound is not None), default=2)
    return candidates([state], scope, seen.combinations, enough)


def _figures(
    seen: AttackInput, left: pl.DataFrame, kept: pl.DataFrame | None, least: Bounds[int]
) -> CandidateFigures:
    """Count what is left by quasi-identifiers (`left`), and by hosting groups, too (`kept`)."""
    covered = seen.knowledge.covered
    assert covered is not None
    here = joined(left, seen.covered, on=["person", VALUE], how="semi")
    found = intersected(left)
    by_candidates, by_groups = counted(here["candidates"]), counted(seen.covered["groups"])
    by_host = None if kept is None else least_of(kept["candidates"])
    return CandidateFigures(
        people_ever=left["person"].n_unique(),
        vulnerable=found.vulnerable,
        smallest_candidates=found.smallest,
        mean_candidates=mean(by_candidates),
        mean_covering_groups=mean(by_groups),
        fewest_candidates_now=reached(by_candidates, 0.0),
        candidates_of_5_percent=reached(by_candidates, 0.05),
        median_candidates=reached(by_candidates, 0.5),
        risk_by_quasi_identifiers=_reciprocal(found.smallest),
        changed=len(changed([covered])),
        misled=int((_left(seen, covered, "person", least)["candidates"] == 0).sum()),
        smallest_candidates_by_host=by_host,
        risk_by_host=_reciprocal(by_host),
        by_candidates=by_candidates,
        by_covering_groups=by_groups,
    )


def _reciprocal(fewest: float | None) -> float | None:
    return 1 / fewest if fewest else None


def _after_a_change(seen: AttackInput, state: pl.DataFrame, least: Bounds[int]) -> list[Count]:
    """Judge whether people whose value changed leave an adversary with nothing, or with enough."""
    left = _left(seen, joined(state, changed([state]), how="semi"), "person", least)
    some = pl.col("candidates")
    return _judged(left.with_columns(pl.when(some > 0).then(some)), least)


def _judged(
    left: pl.DataFrame, least: Bounds[int], excused: Callable[[pl.DataFrame], int] | None = None
) -> list[Count]:
    """Judge whether people have as many candidate values left as they were promised."""
    owed = left.select("person", "candidates", bound=promised(least)).drop_nulls("bound")
    people = owed.group_by("person", "bound").agg(found=pl.col("candidates").min())
    is_broken = (pl.col("found") < pl.col("bound")).fill_null(value=False)
    return judged(people.with_columns(is_broken=is_broken), least, "min", excused)


def _staying(seen: AttackInput, least: Bounds[int]) -> list[Count]:
    """Judge whether people whose groups are known stay in groups of one signature, as large as promised.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 17.
    """
    if seen.hosts.is_empty():
        return []
    moved = moved_people(seen.knowledge.followed, seen.before.stays, seen.release).unique()
    owed = seen.hosts.with_columns(bound=promised(least)).drop_nulls("bound")
    hosted = joined(owed, seen.groups.select("group_id", found="values"), on="group_id")
    hosted = joined(hosted, moved.with_columns(has_moved=pl.lit(value=True)), how="left")
    is_broken = pl.col("has_moved").is_not_null() | (pl.col("found") < pl.col("bound"))
    return judged(hosted.with_columns(is_broken=is_broken), least, "min", seen.excused)


def _signatures(seen: AttackInput) -> pl.DataFrame:
    """`signature`, `remembered`, `same`, `disjoint`, `overlapping`: people by how signatures compare.

    Each earlier signature of each person in the release is compared with that of their group today, value by
    value. `remembered` = `same` + `disjoint` + `overlapping`; m-invariance (Definition 17), and its extension
    to changed values, want no overlap.
    """
    stays = seen.knowledge.followed
    here = stays.people.filter(pl.col("until") == seen.release).select("person", now="signature")
    earlier = (
        here.clear().rename({"now": "signature"}) if seen.before.stays is None else _had(seen.before.stays)
    )
    pairs = joined(earlier, here).group_by("signature", "now").agg(people=pl.len().cast(pl.Int64))
    held = stays.signatures
    compared = pairs.join(held, on="signature").join(
        held.rename({"signature": "now", "values": "today"}), on="now"
    )
    shared = pl.col("values").list.set_intersection("today").list.len() > 0
    same = pl.col("signature") == pl.col("now")
    count = pl.col("people")
    return (
        compared.group_by("signature")
        .agg(
            count.sum().alias("remembered"),
            count.filter(same).sum().alias("same"),
            count.filter(~shared & ~same).sum().alias("disjoint"),
            count.filter(shared & ~same).sum().alias("overlapping"),
        )
        .sort("signature")
    )


def _had(before: Stays) -> pl.DataFrame:
    had = before.people.select("person", "signature")
    again = is_repeated(had["person"])
    return pl.concat([had.filter(~again), had.filter(again).unique()])
