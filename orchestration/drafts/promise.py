"""What a draft promises: an m that every snapshot bears, and how many values are expected to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from republish.anonymize.columns import exactly
from republish.anonymize.kernels.splitmix import rows_drawn
from republish.anonymize.principles import PRINCIPLES
from republish.anonymize.spelling import SEVERAL
from republish.orchestration.drafts.columns import Column
from republish.orchestration.drafts.domains import bins_of
from republish.orchestration.drafts.roles import Roles
from republish.orchestration.drafts.yaml_lines import GUESS, comment, flow

SIGNATURES = 4
"""Signatures of m values that a person with several rows may need, each for another value, and one more."""
SPARE = 0.8
"""Where people have several rows, the most frequent value may have this part of the 1/m that it could have:
publication draws another lot, and a value near 1/m takes many counterfeits."""
MOST, FEWEST = 4, 2
"""The m of a draft, at most and at least."""
FEW_NUMBERS = 20
"""So few different whole numbers are values, and more of them are put into bins."""
CHANGED = 0.1
"""The share of people with another value than before that a contract expects without a word (`expect`)."""


@dataclass(frozen=True)
class _Frequent:
    """The most frequent value of some people."""

    value: str | None
    people: int
    share: float
    """Of all of them, also of those whose value may be known."""


def is_in_bins(column: Column) -> bool:
    """Whether a sensitive column has numbers that bins are published of."""
    return column.kind == "number" and (not column.is_whole or column.distinct > FEW_NUMBERS)


def promise_lines(
    column: Column,
    not_sensitive: tuple[str, ...],
    roles: Roles,
    heights: Sequence[int],
    places: pl.Series | None,
) -> Iterator[str]:
    """The first principle that there is, with an m that all snapshots bear, if any; and what is expected.

    Parameters
    ----------
    column
        The sensitive one.
    not_sensitive
        Its values that may be known of a person.
    heights
        The rows of each snapshot.
    places
        Which of the column's values each row has, null where it has none; None if that is not known.
    """
    values, has_several = column.values.cast(pl.String), roles.has_several
    if is_in_bins(column):
        edges = pl.Series(bins_of(column.values), dtype=pl.Float64)
        values = edges.search_sorted(column.values.cast(pl.Float64), side="right").cast(pl.String)
    people = None
    is_by_row = all(not one.missing and one.rows == column.rows for one in roles.persons)  # in each file
    if places is not None and is_by_row and not column.bounds:
        of_rows = values.gather(places)
        values = _shown(of_rows, roles) if has_several else values
        people = None if has_several else _people(of_rows, roles, heights)
    whole = _most_frequent(values, not_sensitive)
    by_snapshot = [whole] if people is None else [whole, *_of_each(people, not_sensitive)]
    worst = max(by_snapshot, key=lambda one: one.share)
    # A person whose value changes gets a signature that shares no value with the one before.
    signatures, spare = (SIGNATURES, SPARE) if has_several else (2, 1.0)
    distinct = values.filter(~values.is_in(list(not_sensitive))).n_unique()
    bears = min(int(spare / worst.share) if worst.share else MOST, distinct // signatures)
    # Newcomers are grouped with one another: too many with one value would be refused.
    new = [] if people is None else _of_each(people.unique("who", keep="first"), not_sensitive)
    new_bear = min((int(1 / one.share) for one in new if one.share), default=MOST)
    m = max(FEWEST, min(MOST, bears, new_bear))
    parameters: dict[str, Any] = {"name": next(iter(PRINCIPLES)), "m": m}
    if has_several:
        parameters["values_per_person"] = max(1, min(signatures, distinct // m) - 1)
        yield f"# {GUESS} everybody can count how many different values a person has, up to this number."
    yield f"# At least {m} values stay possible for each person."
    if worst.share * FEWEST > 1:
        is_named = worst.people >= SEVERAL and not is_in_bins(column)
        what = comment(str(worst.value))[2:] if is_named else "one value"
        share = f"{worst.share:.0%} of the {'rows' if has_several else 'people'}"
        yield f"# {GUESS} {share} have {what}, and no m is small enough for that. If it"
        yield "#   may be known of a person, because it says that nothing was found, list it under sensitive"
        yield "#   as not_sensitive; else merge values into groups"
    elif new_bear < FEWEST:
        parameters["on_ineligible"] = "wait"
        yield f"# {GUESS} of the newcomers of a snapshot, too many have one value: they wait for later ones"
    else:
        yield f"# {GUESS} republish compare says what another m costs, before the first release"
    yield f"principle: {flow(parameters)}"
    if people is not None and (changed := _most_changed(people)) > CHANGED:
        yield f"# {GUESS} up to {changed:.0%} of the people have another value than in a snapshot before. If"
        yield "#   values come and go by nature, say semantics: transient, and compare other principles"
        yield f"expect: {flow({'changed': min(1.0, round(changed + 0.1, 1))})}"


def _people(values: pl.Series, roles: Roles, heights: Sequence[int]) -> pl.DataFrame | None:
    """`snapshot`, `who`, `value`: each row of all snapshots that has one; None if they are not in rows."""
    if sum(heights) != len(values):
        return None
    who = pl.DataFrame([one.values.alias(f"{at}") for at, one in enumerate(roles.persons)])
    at = pl.Series("snapshot", range(len(heights))).repeat_by(pl.Series(heights)).explode()
    return pl.DataFrame([at, who.to_struct("who"), values.alias("value")]).drop_nulls("value")


def _of_each(people: pl.DataFrame, not_sensitive: tuple[str, ...]) -> list[_Frequent]:
    parts = people.partition_by("snapshot", maintain_order=True)
    return [_most_frequent(part["value"], not_sensitive) for part in parts]


def _most_frequent(values: pl.Series, not_sensitive: tuple[str, ...]) -> _Frequent:
    counted = values.filter(~values.is_in(list(not_sensitive)))
    counts = counted.alias("value").value_counts(name="people", sort=True)
    if counts.is_empty():
        return _Frequent(None, 0, 0.0)
    value, people = counts.row(0)
    return _Frequent(value, people, people / len(values))


def _most_changed(people: pl.DataFrame) -> float:
    """The largest share of the people in a snapshot and the one before whose value differs in them."""
    before = people.with_columns(pl.col("snapshot") + 1)
    both = people.join(before, on=("snapshot", "who"), suffix="_before")
    changed = both.group_by("snapshot").agg(share=(pl.col("value") != pl.col("value_before")).mean())
    return float(changed["share"].max() or 0)  # type: ignore[arg-type]


def _shown(values: pl.Series, roles: Roles) -> pl.Series:
    """The values of rows that are not left out: a lot of rows says which values of a person are published."""
    person = [f"{at}" for at in range(len(roles.persons))]
    named = (one.values.alias(name) for name, one in zip(person, roles.persons, strict=True))
    lots = pl.Series("lot", rows_drawn(len(values), len(values)))
    rows = pl.DataFrame([values.alias("value"), lots, *named]).drop_nulls("value")
    held = rows.group_by(exactly(*person, "value")).agg(pl.col("lot").min(), rows=pl.len())
    held = held.filter(pl.col("lot").rank().over(person) < SIGNATURES)
    return held.select(pl.col("value").repeat_by("rows").explode()).to_series()
