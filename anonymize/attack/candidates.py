"""The candidate values that are left to an adversary, by what they know, and signatures that do not stay."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from republish.anonymize.attack.combinations import Combinations
from republish.anonymize.attack.figures import CandidateFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput, Bounds, promised, vintages
from republish.anonymize.attack.intersection import candidates, changed, intersected
from republish.anonymize.attack.invariance import moved_people, moved_since
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.numbers import is_repeated, joined
from republish.anonymize.attack.stays import Stays
from republish.anonymize.columns import VALUE, counted, least_of
from republish.anonymize.figures import mean, reached

SIGNATURES = "signatures"
"""What is remembered of people whose group is known by coverage alone: the signature of the last release."""


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
    counts: dict[str, Sequence[Count]] = {"covered": _few(left, left, least, seen)}
    if hosted is not None and kept is not None and seen.is_linked:
        counts = {"hosts": _few(kept, kept, least), **counts, "changed": _after_a_change(seen, hosted, least)}
    staying, remembered = _staying(seen, least)
    counts |= {"signatures": staying} if staying else {}
    return AttackResult(counts, found.figures, found.table, remembered)


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
    return _few(left, left.filter(pl.col("candidates") > 0), least)


def _few(
    everybody: pl.DataFrame,
    counted: pl.DataFrame,
    least: Bounds[int],
    seen: AttackInput | None = None,
) -> list[Count]:
    """The people of whom fewer candidate values are left than promised, by what they were promised.

    Without the linkage, a group may cover somebody by chance who is held back. As many people as may be count
    as undecided instead of broken; `seen` is given where that can be.
    """
    counts = []
    for since, bound in vintages(least):
        is_own = promised(least) == bound
        own, looked_at = counted.filter(is_own), everybody.filter(is_own)["person"].n_unique()
        convicted = own.filter(pl.col("candidates") < bound)["person"].unique()
        few = len(convicted)
        undecided = 0 if seen is None else min(few, seen.knowledge.by_chance(convicted))
        if looked_at or bound == least[-1]:
            fewest = least_of(own["candidates"])
            counts.append(Count(looked_at, few - undecided, fewest, bound, undecided, since))
    return counts


def _staying(seen: AttackInput, least: Bounds[int]) -> tuple[list[Count], dict[str, pl.DataFrame]]:
    """Judge whether people whose groups are known stay in groups of one signature, as large as promised.

    Of people who are held back and covered by one group by chance, nobody can tell that the group isn't
    theirs. As many people as were held back so far are counted as undecided.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 17.
    """
    if seen.hosts.is_empty():
        return [], {}
    if seen.is_linked:
        # The stays have everybody's signature as a number, which is quicker to compare and kept anyhow.
        moved_from = moved_people(seen.knowledge.linked, seen.before.stays, seen.release)
    counts, kept = [], []
    excused = seen.knowledge.by_chance()
    for since, bound in vintages(least):
        owed = seen.hosts.filter(promised(least) == bound)
        if seen.is_linked:
            moved = len(joined(moved_from, owed, how="semi"))
        else:
            known = joined(seen.known, owed, how="semi")
            moved, now = moved_since(known, owed, seen.numbered, seen.before.parts.get(SIGNATURES))
            kept.append(now)
        hosted = joined(owed, seen.groups.select("group_id", "values"), on="group_id")
        broken = moved + len(hosted.filter(pl.col("values") < bound))
        undecided = min(broken, excused)
        excused -= undecided
        if len(owed) or bound == least[-1]:
            fewest = least_of(hosted["values"])
            counts.append(Count(len(owed), broken - undecided, fewest, bound, undecided, since))
    return counts, {SIGNATURES: pl.concat(kept)} if kept else {}


def _signatures(seen: AttackInput) -> pl.DataFrame:
    """`signature`, `remembered`, `same`, `disjoint`, `overlapping`: people by how signatures compare.

    Each earlier signature of each person in the release is compared with that of their group today, value by
    value. `remembered` = `same` + `disjoint` + `overlapping`; m-invariance (Definition 17), and its extension
    to changed values, want no overlap.
    """
    stays = seen.knowledge.linked
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
