"""Side channels of the published tables themselves: order, numbering, columns that shouldn't be there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from math import factorial

import polars as pl

from republish.anonymize.attack.finding import AttackResult, one
from republish.anonymize.attack.input import AttackInput, TablesInput
from republish.anonymize.attack.matching import covering_groups
from republish.anonymize.attack.numbers import joined
from republish.anonymize.attack.side_channels import (
    CERTAIN,
    CHANCE,
    are_numbered_by_content,
    classifier_advantage,
    follows_values,
    marks,
    numbered_as_sorted,
    numbering_against,
    one_throw,
    orders_against,
    ragged_groups,
    told_apart,
)
from republish.anonymize.attack.view import ViewInput
from republish.anonymize.columns import IDENTIFIER, VALUE, least_of, most_of
from republish.anonymize.formats.format import EXTRA
from republish.anonymize.people.codes import encode

Tables = Mapping[str, pl.DataFrame]
MANY_GROUPS = 20
"""So many groups are enough to notice that they are numbered in a hidden order."""
AT_ONCE = 250_000
"""So many people are paired with groups at a time: pairs take memory."""
MOST_PAIRS = 20_000_000
"""The most pairs of a person and a group that covers them, by which the order of rows is attacked."""


def attack_row_order(seen: AttackInput) -> AttackResult:
    """Judge whether the order of rows says nothing: exactly in our own formats, else by tests."""
    disorderly = seen.disorderly
    if seen.told.is_own_format:
        rows = sum(len(table) for table in seen.tables.values())
        return one(rows, sum(len(seen.tables[name]) for name in disorderly))
    return _row_order(seen.tables, disorderly, seen)


def attack_numbering(seen: AttackInput) -> AttackResult:
    """Judge whether the numbering of groups says nothing: exactly in our own formats, else by tests."""
    if seen.told.is_own_format:
        return _canonical_numbering(seen)
    return _numbering(seen)


def attack_intervals(seen: AttackInput) -> AttackResult:
    """Judge whether all rows of each group have the same intervals, where intervals are published."""
    bounds = [column for column in seen.main.columns if column.endswith(("_low", "_high", "_missing"))]
    if not bounds or not seen.told.is_own_format:
        return AttackResult()
    boxes = seen.published.boxes
    return one(boxes["group_id"].n_unique(), ragged_groups(boxes, bounds))


def _hidden_orders(seen: AttackInput, hosts: pl.DataFrame) -> pl.DataFrame:
    """`person`, `value`, `group_id`, and orders that are known: the snapshot's, the identifiers', ….

    Each quasi-identifier has an order too. `hosts` has the groups of each `person`.
    """
    ordered = seen.people.select(
        "person",
        VALUE,
        pl.int_range(pl.len()).alias("by_snapshot"),
        pl.col(IDENTIFIER).rank("ordinal").cast(pl.Int64).alias("by_identifier"),
        *(encode(pl.col(column), qi).alias(f"by_{column}") for column, qi in seen.schema.attributes()),
    )
    return ordered.join(hosts.select("person", "group_id"), on="person", maintain_order="left")


def _may_be_in(seen: AttackInput) -> pl.DataFrame:
    """`person`, `group_id`: the person's group, or all that cover them and hold their value.

    Of people whom too many groups cover, none.
    """
    if seen.is_linked:
        return seen.hosts
    pairs = seen.covered.group_by("groups").agg((pl.len() * pl.col("groups").first()).alias("pairs"))
    pairs = pairs.sort("groups").filter(pl.col("pairs").cum_sum() <= MOST_PAIRS)
    few = seen.known.filter(seen.covered["groups"] <= (most_of(pairs["groups"]) or 0))
    held = seen.published.values.select("group_id", VALUE)
    # A person may be in many groups, and few of these have the value.
    return pl.concat(
        covering_groups(few[begin : begin + AT_ONCE], seen.published)
        .join(held, on=["group_id", VALUE], how="semi")
        .select("person", "group_id")
        for begin in range(0, max(len(few), 1), AT_ONCE)
    )


def _canonical_numbering(seen: TablesInput) -> AttackResult:
    """Groups that are not numbered 1, 2, … by first row, values, counterfeits and then all their rows."""
    tables, main = seen.tables, seen.main
    of_people = {
        f"{name}{part}" for name, _ in seen.schema.attributes() for part in ("", "_low", "_high", "_missing")
    }
    shown = main.select("group_id", *(column for column in main.columns if column in of_people))
    content = shown.filter(shown["group_id"].is_first_distinct()).sort("group_id")
    held = next(table for table in tables.values() if VALUE in table.columns)
    content = _with_rows(content, held.select("group_id", VALUE), "held")
    if "counterfeits" in tables:
        count = tables["counterfeits"].select("group_id", "count")
        content = joined(content, count, on="group_id", how="left").with_columns(pl.col("count").fill_null(0))
    content = _with_rows(content, shown, "rows")
    broken = 0 if numbered_as_sorted(content, seen.orders) else len(content)
    return one(len(content), broken)


def _with_rows(content: pl.DataFrame, table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Groups in order with all their rows of a table, by their places among all different rows, as text.

    Only groups that are the same so far as one beside them have it: for others it is not looked at.
    """
    above = pl.all_horizontal(pl.exclude("group_id").eq_missing(pl.exclude("group_id").shift()))
    is_alike = content.select(above & (pl.int_range(pl.len()) > 0)).to_series()
    alike = content.filter(is_alike | is_alike.shift(-1, fill_value=False)).select("group_id")
    table = joined(table, alike, on="group_id", how="semi")
    columns = table.columns[1:]
    places = table.select(columns).unique().sort(columns).with_row_index("place")
    width = len(str(len(places)))
    listed = table.join(places, on=columns, nulls_equal=True).sort("group_id", "place")
    text = listed.group_by("group_id", maintain_order=True).agg(
        pl.col("place").cast(pl.String).str.zfill(width).str.join("").alias(name)
    )
    return joined(content, text, on="group_id", how="left")


def _row_order(tables: Tables, disorderly: list[str], seen: AttackInput) -> AttackResult:
    """Rows in canonical order say nothing; rows in another are read against hidden orders.

    Rows are undecided if none could be compared, or so few that no order would stand out from chance.
    """
    rows = sum(len(table) for table in tables.values())
    rare, leaked, undecided = 1.0, 0, 0
    for name in disorderly:
        table = tables[name]
        if VALUE not in table.columns:
            # Quasi-identifiers and counts: their order could only be that of the people.
            continue
        listed = table.select("group_id", VALUE)
        if follows_values(listed):
            continue
        places = _hidden_orders(seen, _may_be_in(seen))
        orders = [column for column in places.columns if column.startswith("by_")]
        found = orders_against(listed, places, orders)
        p = pl.min_horizontal(pl.col("p") * len(found), 1.0)
        rare = min(rare, found.select(p.min()).item())
        leaked = max(leaked, most_of(found.filter(p < CHANCE)["hits"]) or 0)
        if rare >= CHANCE <= (least_of(found["possible"]) or 0.0) * len(found):
            undecided += len(table)
    return one(rows, leaked, rare, CHANCE, 0 if leaked else undecided)


def _numbering(seen: AttackInput) -> AttackResult:
    """Groups numbered by their content say nothing; other numbers are compared with hidden orders.

    Groups are undecided if so few could be compared that no numbering would stand out from chance.
    """
    groups = seen.main["group_id"].n_unique()
    if are_numbered_by_content(seen.main, seen.orders):
        return one(groups, 0, 1.0, CHANCE)
    places = _hidden_orders(seen, _may_be_in(seen))
    found = [
        numbering_against(places.select("group_id", order=pl.col(order)), of)
        for order in ("by_snapshot", "by_identifier")
        for of in (pl.Expr.mean, pl.Expr.min)
    ]
    rare = min(1.0, min(one["p"] for one in found) * len(found))
    compared = places["group_id"].n_unique()
    # Of so many groups, two numberings follow an order wholly.
    is_decided = compared >= MANY_GROUPS or 2 * len(found) / factorial(compared) < CHANCE
    return one(groups, groups if rare < CHANCE else 0, rare, CHANCE, 0 if is_decided else groups)


def attack_counterfeits(seen: AttackInput) -> AttackResult:
    """Judge whether counterfeits stand out by their place in the file, or by any column but the value.

    A release of our own is tested time and again, and is refused for nothing that chance may do: between
    `CERTAIN` and `CHANCE` its counterfeits are undecided. Only a table that can't be our own, by its order or
    its columns, is judged as that of another tool.
    """
    main, *_ = seen.release_format.tables(seen.schema)
    is_ordered, key = main not in seen.disorderly, seen.release_format.counterfeit_key(seen.schema)
    counted = _counted(seen, key)
    extra = [column for column in seen.main.columns if column.startswith(EXTRA)]
    level = CERTAIN if seen.told.is_own_format and is_ordered and not extra else CHANCE
    counterfeits = int(counted.filter(pl.col("people") == 0)["alike"].sum())
    features = [] if is_ordered else ["place"]
    if not counterfeits or not (features or extra or _varying(seen.main)):
        return one(counterfeits, 0, 1.0, level)
    rows = _labelled(seen, counted, key)
    features += _varying(rows)
    # What is missing comes before all else.
    ranked = rows.with_columns(
        pl.col(column).rank("dense").cast(pl.Float64).fill_null(0.0) for column in features
    )
    marked = marks(rows, extra)["p"].to_list()
    # One test per column and one for all: each must be rarer for the same rate of false alarms.
    tests = len(features) + 1 + len(marked)
    signatures = _signatures(seen) if seen.told.is_own_format else None
    rarest = min(1.0, min([*_chances(ranked, features, signatures, extra, tests), *marked]) * tests)
    broken, odd = (counterfeits if rarest < limit else 0 for limit in (level, CHANCE))
    return one(counterfeits, broken, rarest, level, odd - broken)


def _signatures(seen: AttackInput) -> pl.DataFrame:
    """`group_id`, `signature`: a number for the set of values that each group holds."""
    held = seen.published.values.group_by("group_id").agg(pl.col(VALUE).unique().sort())
    # The classifier's halves follow from the numbers, so they are the same whenever a release is attacked.
    numbers = held.sort("group_id").select(VALUE).unique(maintain_order=True).with_row_index("signature")
    return held.join(numbers, on=VALUE).select("group_id", "signature")


def _chances(
    rows: pl.DataFrame,
    features: list[str],
    signatures: pl.DataFrame | None,
    extra: Collection[str],
    tests: int,
) -> list[float]:
    """The chances, by each feature and by all, that counterfeits stand out so clearly without a reason.

    In our own formats, groups of one signature are not independent of each other: people and counterfeits are
    put side by side in one order. If the counterfeits of a signature happen to be a little older than its
    people, they are the older ones in nearly all of its groups. So what stands out within groups is no rarer
    than the rarer of two things, each counted twice because there are two: that counterfeits stand out so
    among all rows of a signature, and that coins, one for each signature, fall so much to one side. Place and
    columns that the format does not have are no part of that order.
    """
    chances = dict(zip(features, told_apart(rows, features)["p"], strict=True))
    together = classifier_advantage(rows, features)["p"]
    signed = None if signatures is None else rows.join(signatures, on="group_id", maintain_order="left")
    if signed is None or signed["signature"].n_unique() == signed["group_id"].n_unique():
        return [*chances.values(), together]
    merged = signed.with_columns(group_id="signature")
    # A chance of 1 in so many tests, or more, shows nothing: it needs no second look.
    rare = [name for name, p in chances.items() if p * tests < 1 and name not in ("place", *extra)]
    for name, among in zip(rare, told_apart(merged, rare)["p"], strict=True):
        chances[name] = max(chances[name], min(1.0, 2 * among, 2 * one_throw(signed, name)))
    if together * tests < 1:
        together = max(together, classifier_advantage(merged, features)["p"])
    return [*chances.values(), together]


def _counted(seen: AttackInput, key: list[str]) -> pl.DataFrame:
    """`group_id`, the key, `alike` (rows that have it), `people` (who have it); nothing if nobody is forged.

    Rows that could be either are left out, and groups whose people are not all known.
    """
    if key == [VALUE]:
        counted = seen.carried.filter(pl.col("tuples") > 0).rename({"tuples": "alike"})
    else:
        people = joined(seen.people.select("person", *key), seen.hosts)
        counted = (
            seen.main.group_by("group_id", *key)
            .len("alike")
            .join(
                people.group_by("group_id", *key).len("people"),
                on=["group_id", *key],
                how="left",
                nulls_equal=True,
            )
            .with_columns(pl.col("people").fill_null(0))
        )
    is_whole = (pl.col("people") > 0) & (pl.col("tuples") == pl.col("people") + pl.col("count"))
    counted = joined(counted, seen.groups.filter(is_whole), on="group_id", how="semi")
    is_forged = pl.col("people") == 0
    return counted.filter(is_forged.any() & (is_forged | (pl.col("people") >= pl.col("alike"))))


def _labelled(seen: AttackInput, counted: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """The published rows of what was `counted`, with `counterfeit` and `place`."""
    return (
        joined(seen.main, counted, on="group_id", how="semi")
        .with_columns(place=pl.int_range(pl.len()).over("group_id"))
        .join(counted, on=["group_id", *key], maintain_order="left", nulls_equal=True)
        .with_columns(counterfeit=pl.col("people") == 0)
        .drop("people", "alike")
    )


def _varying(rows: pl.DataFrame) -> list[str]:
    """The columns in which rows of one group differ; the value is left out, and so is what labels rows."""
    columns = [one for one in rows.columns if one not in ("group_id", "counterfeit", "place", VALUE)]
    numbers = rows.group_by("group_id").agg(pl.col(columns).n_unique())
    return [one for one in columns if (most_of(numbers[one]) or 0) > 1]


def attack_identifiers(seen: AttackInput | ViewInput) -> AttackResult:
    """Columns that the format does not know and that are full of identifiers."""
    columns = [column for table in seen.tables.values() for column in table.get_columns()]
    unexpected = [column for column in columns if column.name.startswith(EXTRA)]
    if not unexpected:
        return one(len(columns), 0)
    known = seen.people[IDENTIFIER].cast(pl.String).unique().implode()
    leaks = [
        column
        for column in unexpected
        if 2 * int((texts := column.unique().cast(pl.String)).is_in(known).sum()) > len(texts.drop_nulls())
    ]
    return one(len(columns), len(leaks))


def attack_columns(seen: AttackInput | ViewInput) -> AttackResult:
    """Columns that the format does not have: whatever they hold, nobody needs them.

    In tables of other tools, a column that says the same of everybody says nothing of anybody.
    """
    expected = set(chain.from_iterable(seen.release_format.entries(seen.schema).values()))
    shown = [column for table in seen.tables.values() for column in table]
    others = [column for column in shown if column.name not in expected]
    if isinstance(seen, AttackInput) and not seen.told.is_own_format:
        others = [column for column in others if column.n_unique() > 1]
    return one(len(shown), len(others))
