"""Attacks on published groups that are not of their people: coverage, counts, hosting groups and widths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby

import numpy as np
import polars as pl

from republish.anonymize.attack.coverage import holds
from republish.anonymize.attack.figures import EndFigures
from republish.anonymize.attack.finding import AttackResult, Count, one
from republish.anonymize.attack.input import AttackInput, carried
from republish.anonymize.attack.numbers import joined
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryAttribute, QuasiIdentifier
from republish.anonymize.people.codes import code_domain, encode


def attack_entries(seen: AttackInput) -> AttackResult:
    """Count the published entries that can't be read."""
    return AttackResult({"": seen.entries})


def attack_coverage(seen: AttackInput) -> AttackResult:
    """Judge whether every person lies in a published group that holds their value."""
    covered = seen.covered
    if not seen.is_linked:
        astray = int((~holds(covered, VALUE, seen.values)).sum())
        return one(len(covered), max(0, astray - seen.told.held_back))
    present = joined(covered, seen.hosts, how="semi")
    astray = int((~holds(present, VALUE, seen.values)).sum())
    return one(len(covered), astray, table=_by_column(seen))


def attack_counts(seen: AttackInput) -> AttackResult:
    """Judge whether there are as many tuples as people and stated counterfeits."""
    published, people = seen.published, seen.known.height
    tuples = int(published.values["tuples"].sum()) - int(published.counterfeits["count"].sum())
    excess = max(_unequal_groups(seen), abs(tuples - (people - seen.told.held_back)), _of_nobody(seen))
    if seen.told.linkage is None:
        return one(people, max(excess, _without_values(seen) - seen.told.held_back))
    excess = max(excess, abs(people - seen.told.held_back - len(seen.hosts)))
    return one(people, excess, table=_accounted(seen, seen.told.linkage))


def attack_hosts(seen: AttackInput) -> AttackResult:
    """Judge whether people lie within the intervals of their groups, and groups consist of their people."""
    if not seen.is_linked:
        return AttackResult()
    return one(len(seen.hosts), _misplaced(seen))


def attack_widths(seen: AttackInput) -> AttackResult:
    """The intervals of each quasi-identifier: whether they are as wide as allowed, and whose their ends are.

    A width is the number of values covered (whole numbers, days, labels) or a length (fractions). The table
    has `column`, `min_width`, `groups`, `narrower`, `mean_width`, `off_grid` (ends that are within a cell of
    `min_width`); there is none without intervals.

    Broken is every interval that is too narrow, and every end that cuts a cell of a hierarchy: releases with
    such cells all keep to them. Ends on the grid are judged by the table alone, for releases of versions
    below 0.5 have others.
    """
    ends = [f"{column}_{end}" for column, _ in seen.schema.attributes() for end in ("low", "high")]
    if not set(ends) <= set(seen.main.columns):
        return AttackResult()
    groups = seen.published.boxes
    rows, number, lone_ends, looked_at, broken = [], 0, 0, 0, 0
    for column, attribute in seen.schema.attributes():
        coded = groups.select(pl.col(f"{column}_{end}").alias(end) for end in ("low", "high"))
        coded = coded.drop_nulls()
        number += 2 * coded.height
        width = pl.col("high") - pl.col("low") + int(attribute.discrete)
        narrower, mean = coded.select(
            (width < attribute.min_width).sum().alias("narrower"), width.mean().alias("mean")
        ).row(0)
        free = [coded.filter(~_is_on_grid(end, attribute)).select(value=end) for end in ("low", "high")]
        has_width = attribute.min_width > int(attribute.discrete)
        off_grid = sum(map(len, free)) if has_width else 0
        looked_at += coded.height if has_width else 0
        broken += narrower + (off_grid if getattr(attribute, "cells", None) is not None else 0)
        rows.append((attribute.name, float(attribute.min_width), groups.height, narrower, mean, off_grid))
        lone = seen.known.group_by(value=column).len("people").filter(pl.col("people") == 1)
        lone_ends += len(pl.concat(free).join(lone, on="value", how="semi"))
    schema = {"column": pl.String, "min_width": pl.Float64, "groups": pl.Int64, "narrower": pl.Int64}
    schema |= {"mean_width": pl.Float64, "off_grid": pl.Int64}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    counts = {"": Count(looked_at, broken)} if looked_at else {}
    return AttackResult(counts, EndFigures(number, lone_ends), table)


def _is_on_grid(end: str, attribute: QuasiIdentifier) -> pl.Expr:
    """Whether a cell of `min_width`, counted from the domain's lower end, ends there; a rounding error apart.

    Cells of one value end at values themselves, and count as no grid. Those of a hierarchy are found here
    anew, from its groups.
    """
    lowest, highest = code_domain(attribute)
    if attribute.min_width <= int(attribute.discrete):
        return pl.lit(value=False)
    if isinstance(attribute, CategoryAttribute) and attribute.hierarchy and not attribute.ends_on_grid:
        lines = pl.Series(_ends_of_groups(attribute.hierarchy, attribute.min_width), dtype=pl.Int64)
        return (pl.col(end) + int(end == "high")).is_in(lines.implode())
    if attribute.discrete:  # by a remainder: polars rounds quotients, so that 3 * 50,000 / 50,000 is above 3
        is_line = (pl.col(end) + int(end == "high") - lowest) % attribute.min_width == 0
    else:
        cells = (pl.col(end) - lowest) / attribute.min_width
        # Cells of fractions may be wider by a rounding error, which adds up from cell to cell.
        error = 2e-15 * max(abs(lowest), abs(highest)) / attribute.min_width
        is_line = (cells - cells.round()).abs() <= error * (cells + 1)
    return is_line | (pl.col(end) == highest) if end == "high" else is_line


def _ends_of_groups(paths: Sequence[Sequence[str]], fewest: int) -> list[int]:
    """The leaves at which intervals may begin or be over: level by level, from single leaves up."""
    sizes = [1] * len(paths)
    for level in range(1, len(paths[0])):
        parts, whole = iter(sizes), list[int]()
        for _, leaves in groupby(path[level] for path in paths):
            missing, own = sum(1 for _ in leaves), list[int]()
            while missing:
                own.append(next(parts))
                missing -= own[-1]
            whole += _together(own, fewest)
        sizes = whole
    return [0, *accumulate(sizes)]


def _together(sizes: Sequence[int], fewest: int) -> list[int]:
    """Parts of a group, so that each one has enough leaves, or the group is one part.

    Small ones are joined with small ones after them; what is too small still, with the part before.
    """
    if sum(sizes) < fewest:
        return [sum(sizes)]
    found, small = list[int](), 0
    for size in sizes:
        if size >= fewest and found:
            found[-1] += small
            small = 0
        small += size
        if small >= fewest:
            found.append(small)
            small = 0
    found[-1] += small
    return found


def _by_column(seen: AttackInput) -> pl.DataFrame:
    """`column`, `people`, `uncovered`: people whose group lacks their quasi-identifier or value, by column.

    A group covers a person if its interval contains their quasi-identifier (Definition 2). Of exact
    quasi-identifiers and of values, people who are alike need as many as they are.
    """
    names = [column for column, _ in seen.schema.attributes()]
    hosted = seen.hosted
    values = seen.carried.select(needed="people", held="tuples")
    missing = {seen.schema.sensitive.name: _lacking(values)}
    if set(names) <= set(seen.main.columns):
        codes = [
            encode(pl.col(column), attribute).alias(column) for column, attribute in seen.schema.attributes()
        ]
        rows = seen.main.select("group_id", *codes).group_by("group_id", *names).len("held")
        needed = hosted.group_by("group_id", *names).len("needed")
        rows = needed.join(rows, on=["group_id", *names], how="left", nulls_equal=True)
        uncovered = {"quasi-identifiers": _lacking(rows)}
    else:
        # All rows of a group have its interval; should they not, a person has to be in each of them.
        ends = [end for name in names for end in (pl.col(f"{name}_low").max(), pl.col(f"{name}_high").min())]
        boxes = seen.published.boxes
        boxes = boxes.group_by("group_id").agg(*ends, pl.col("^.*_missing$").min())
        placed = joined(hosted, boxes, on="group_id", how="left")
        uncovered = {
            attribute.name: placed.select((~_covers(name, boxes).fill_null(value=False)).sum()).item()
            for name, attribute in seen.schema.attributes()
        }
    counted = {**uncovered, **missing}
    return pl.DataFrame(
        {"column": list(counted), "people": hosted.height, "uncovered": list(counted.values())},
        schema={"column": pl.String, "people": pl.Int64, "uncovered": pl.Int64},
    )


def _covers(name: str, boxes: pl.DataFrame) -> pl.Expr:
    """Whether a box beside a person covers their quasi-identifier; a missing one, if somebody has none."""
    code = pl.col(name)
    inside = code.is_between(f"{name}_low", f"{name}_high")
    if f"{name}_missing" not in boxes.columns:
        return inside
    return pl.when(code.is_null()).then(pl.col(f"{name}_missing") > 0).otherwise(inside)


def _lacking(rows: pl.DataFrame) -> int:
    """Count the people who have no row of their own, from rows that are `needed` and rows that are `held`."""
    lacking = pl.col("needed").cast(pl.Int64) - pl.col("held").cast(pl.Int64).fill_null(0)
    return int(rows.select(lacking.clip(0).sum()).item())


def _accounted(seen: AttackInput, linkage: pl.DataFrame) -> pl.DataFrame:
    """One row: how many tuples there are, and whether they are accounted for.

    `rows`, `hosted`, `counterfeits`, `wrong_counts`, `empty_groups`, `people`, `held_back`, `stated` (how
    many are held back on purpose), `strangers`. `wrong_counts` are the groups whose tuples are not their
    people and the counterfeits that R(n) states; `strangers` are linked people who are not in T(n), or in
    two groups.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 3.
    """
    inside = seen.hosts["person"].n_unique()
    return seen.groups.select(
        pl.col("stated").sum().alias("rows"),
        pl.lit(seen.hosts.height, pl.Int64).alias("hosted"),
        pl.col("count").sum().cast(pl.Int64).alias("counterfeits"),
        (pl.col("stated") != pl.col("people") + pl.col("count")).sum().cast(pl.Int64).alias("wrong_counts"),
        (pl.col("people") == 0).sum().cast(pl.Int64).alias("empty_groups"),
        pl.lit(seen.people.height, pl.Int64).alias("people"),
        pl.lit(seen.people.height - inside, pl.Int64).alias("held_back"),
        pl.lit(seen.told.held_back, pl.Int64).alias("stated"),
        pl.lit(linkage.height - inside, pl.Int64).alias("strangers"),
    )


def _without_values(seen: AttackInput) -> int:
    """By how many people without a value groups state more or fewer than there are: in the worst column."""
    stated = seen.published.boxes.select(pl.col("^.*_missing$").sum())
    true = seen.known.select(pl.col(name.removesuffix("_missing")).null_count() for name in stated.columns)
    pairs = zip(stated.row(0), true.row(0), strict=True) if stated.width else ()
    return max((abs(int(one) - int(other)) for one, other in pairs), default=0)


def _of_nobody(seen: AttackInput) -> int:
    """Tuples, beyond the stated counterfeits, with a value that fewer people have."""
    shown = seen.published.values.group_by(VALUE).agg(pl.col("tuples").cast(pl.Int64).sum())
    true = seen.known.group_by(VALUE).agg(people=pl.len().cast(pl.Int64))
    more = joined(shown, true, on=VALUE, how="left")
    surplus = more.select((pl.col("tuples") - pl.col("people").fill_null(0)).clip(0).sum()).item()
    return max(0, int(surplus) - int(seen.published.counterfeits["count"].sum()))


def _unequal_groups(seen: AttackInput) -> int:
    """Rows of the main table that are too many or missing in their groups, by the values that these hold."""
    return int((seen.groups["tuples"] - seen.groups["stated"]).abs().sum())


def _misplaced(seen: AttackInput) -> int:
    """People outside their hosting group's intervals, or in a group whose tuples don't add up."""
    hosted, held = seen.hosted, seen.carried
    if hosted["person"].n_unique() < len(hosted):  # a row of the linkage that is there twice is one
        hosted = hosted.unique()
        held = carried(seen.published, hosted, seen.values)
    surplus = pl.col("tuples") - pl.col("people")
    groups = held.group_by("group_id").agg(
        surplus=surplus.sum(), least=surplus.min(), people=pl.col("people").sum()
    )
    groups = groups.join(seen.published.counterfeits, on="group_id", how="full", coalesce=True)
    is_wrong = (pl.col("least") < 0) | (pl.col("surplus").fill_null(0) != pl.col("count").fill_null(0))
    miscounted = _miscounted(hosted, seen.published.boxes)
    wrong = groups.filter(is_wrong | pl.col("group_id").is_in(miscounted.implode()))
    inside = _inside_their_host(hosted, seen.published.boxes)
    astray = hosted.filter(~inside | hosted["group_id"].is_in(wrong["group_id"].implode()))
    # A group nobody is hosted in and whose tuples don't add up counts as one.
    return len(astray) + int((wrong["people"].fill_null(0) == 0).sum())


def _miscounted(hosted: pl.DataFrame, boxes: pl.DataFrame) -> pl.Series:
    """The groups that state another number of people without a value than they have."""
    stated = boxes.select("group_id", "^.*_missing$")
    names = stated.columns[1:]
    without = [pl.col(name.removesuffix("_missing")).null_count().alias(name) for name in names]
    true = hosted.group_by("group_id").agg(without)
    differs = [pl.col(name) != pl.col(f"{name}_true") for name in names]
    both = stated.join(true, on="group_id", suffix="_true")
    return both.filter(pl.any_horizontal(pl.lit(value=False), *differs))["group_id"]


def _inside_their_host(hosted: pl.DataFrame, boxes: pl.DataFrame) -> pl.Series:
    """Whether a box of their hosting group covers each person.

    Boxes of no width are looked up: by Anatomy a group has as many as people, too many to compare each
    person with each.
    """
    names = [column.removesuffix("_low") for column in boxes.columns if column.endswith("_low")]
    is_point = pl.all_horizontal(
        *(pl.col(f"{name}_low").eq_missing(pl.col(f"{name}_high")) for name in names),
        *(pl.col(name) == 0 for name in boxes.columns if name.endswith("_missing")),
    )
    points = boxes.filter(is_point).select(
        "group_id", **{name: pl.col(f"{name}_low").cast(hosted.schema[name]) for name in names}
    )
    inside = pl.all_horizontal(_covers(name, boxes) for name in names)
    rows = hosted.select(pl.int_range(pl.len()).alias("row"), "group_id", *names)
    wide = joined(rows, boxes.filter(~is_point), on="group_id").filter(inside)
    narrow = rows.clear()
    if len(points):
        narrow = rows.join(points, on=["group_id", *names], how="semi", nulls_equal=True)
    found = np.zeros(len(hosted), dtype=bool)
    found[pl.concat([wide["row"], narrow["row"]]).to_numpy()] = True
    return pl.Series(found, dtype=pl.Boolean)
