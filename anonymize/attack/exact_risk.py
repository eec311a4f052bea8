"""The risk of Definition 14, exactly, wherever few people share the groups that may hold them.

People and groups of all releases are the nodes of a graph, and a person is joined to each group that may hold
them. What is possible in one connected component doesn't depend on the others, so surjections are counted
component by component, smallest first, up to a number of steps. People in components for which that does not
suffice have no exact risk; `matching` finds some of those whose value is certain. Of a single group nothing
needs to be counted: the risk is the share of the value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.attack.figures import RiskFigures
from republish.anonymize.attack.surjections import Contents, Row, Steps, TooManySurjectionsError, risks
from republish.anonymize.columns import most_of
from republish.anonymize.formats.published import Published
from republish.anonymize.late import on_first_call

connected_components = on_first_call("scipy.sparse.csgraph", "connected_components")
coo_array = on_first_call("scipy.sparse", "coo_array")

Covered = dict[Row, list[Hashable]]
"""The groups that may hold each row."""
Component = Sequence[tuple[Covered, Contents]]
"""The rows and groups of a component, by release."""
Counted = dict[Hashable, tuple[int, list[float] | None]]
"""The steps that components took, and the risks of their rows; None where it took more."""
STEPS = 10**6
"""Mappings of a tuple to a person that are tried in all: some seconds."""

SHARE_OF_STEPS = 10
"""No component may use more than one in so many of the steps."""

LARGEST_COMPONENT = 14
"""People in a component up to which counting is tried."""


def exact_risks(
    covering: Sequence[pl.DataFrame],
    releases: Sequence[Published],
    *,
    invariant: bool,
    steps: int = STEPS,
    counted: Counted | None = None,
) -> pl.DataFrame:
    """Compute the disclosure risk of every tuple for which few enough surjections are to be counted.

    Parameters
    ----------
    covering
        For each release: `person`, `value` (the true one, which tells apart a person's tuples), `group_id`:
        the groups that may hold the person, as `matching.match` takes them.
    releases
        T*(1), …, T*(n).
    invariant
        Whether the adversary knows that nobody's signature changes. It must not be said of a series in which
        signatures do change.
    steps
        How many mappings of a tuple are tried in all.
    counted
        What was counted before of the same people and groups with other values; what is counted now is added.

    Returns
    -------
    pl.DataFrame
        `person`, `value`, `component` (a number), `risk` (Float64, null where not decided).

    Raises
    ------
    ValueError
        If these people cannot have been published as these releases.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 13 and 14.
    """
    pairs = pl.concat(
        one.select("person", "value", pl.lit(number).alias("release"), "group_id")
        for number, one in enumerate(covering)
    )
    rows = pairs.select("person", "value").unique().sort("person", "value").with_row_index("row")
    groups = pl.concat(
        one.sizes.select(pl.lit(number).alias("release"), "group_id") for number, one in enumerate(releases)
    ).with_row_index("group")
    linked = pairs.join(rows, on=["person", "value"]).join(groups, on=["release", "group_id"])
    label = _components(linked["row"].to_numpy(), linked["group"].to_numpy(), len(rows), len(groups))
    rows = rows.with_columns(pl.Series("component", label[: len(rows)], dtype=pl.Int64))
    groups = groups.with_columns(pl.Series("component", label[len(rows) :], dtype=pl.Int64))
    size = (
        groups.group_by("component")
        .len("groups")
        .join(rows.group_by("component").len("people"), on="component")
    )
    alone = linked.join(rows.join(size.filter(groups=1), on="component", how="semi"), on=["person", "value"])
    found = _shares(alone, releases).rows()
    size = size.filter(pl.col("groups") > 1, pl.col("people") <= LARGEST_COMPONENT)
    counted, spent = {} if counted is None else counted, 0
    for component in _contents(linked, size, rows, groups, releases):
        people = [*dict.fromkeys(row for covered, _ in component for row in covered)]
        most = min(steps // SHARE_OF_STEPS, steps - spent)
        taken, own = _counted(component, people, invariant, most, counted)
        spent += taken
        if spent >= steps:
            break
        if own is None:
            continue
        if not own:
            raise ValueError("no microdata of these people can have been published as these releases")
        found += [(*row, risk) for row, risk in zip(people, own, strict=True)]
    schema = pl.Schema({**rows.select("person", "value").schema, "risk": pl.Float64()})
    risk = pl.DataFrame(found, schema=schema, orient="row")
    return rows.join(risk, on=["person", "value"], how="left", maintain_order="left").drop("row")


def risk_figures(risks: pl.DataFrame) -> RiskFigures:
    """Count exact risks: nothing of any one person."""
    risk = risks["risk"].drop_nulls()
    return RiskFigures(
        tuples=len(risks),
        decided=len(risk),
        largest=most_of(risk),
        certain=int((risk == 1).sum()),
    )


def _components(row: np.ndarray, group: np.ndarray, rows: int, groups: int) -> np.ndarray:
    """int[rows + groups]: the component of every row and group."""
    size = rows + groups
    joined = coo_array(
        (np.ones(len(row), dtype=bool), (row, rows + group.astype(np.int64))), shape=(size, size)
    )
    return np.asarray(connected_components(joined, directed=False)[1])


def _shares(alone: pl.DataFrame, releases: Sequence[Published]) -> pl.DataFrame:
    """`person`, `value`, `risk` of people in components of one group."""
    share = (pl.col("tuples") / pl.col("tuples").sum().over("group_id")).alias("risk")
    values = pl.concat(
        one.values.select(pl.lit(number).alias("release"), "group_id", "value", share)
        for number, one in enumerate(releases)
    )
    return alone.join(values, on=["release", "group_id", "value"], how="left").select(
        "person", "value", pl.col("risk").fill_null(0.0)
    )


def _counted(
    component: Component, people: Sequence[Row], invariant: bool, most: int, counted: Counted
) -> tuple[int, list[float] | None]:
    """The steps that it takes to count a component, and its people's risks: None if it takes more.

    There are no risks, an empty list, if these people cannot have been published so.

    Nothing matters of a value but how many tuples of which groups have it. Components that are the same but
    for the names of values, as those of one sensitive column and of several often are, are counted once.
    """
    held: dict[Hashable, list[tuple[Any, ...]]] = defaultdict(list)
    for number, (_, contents) in enumerate(component):
        for (group, value), count in contents.tuples.items():
            held[value].append((number, group, count))
    name = {value: tuple(sorted(where)) for value, where in held.items()}
    position = {row: at for at, row in enumerate(people)}
    key = (
        invariant,
        tuple(sorted(name.values())),
        tuple((at, name.get(row[1])) for row, at in position.items()),
        tuple(
            (tuple((position[row], *hosts) for row, hosts in covered.items()), *contents.counterfeits.items())
            for covered, contents in component
        ),
    )
    taken, found = counted.get(key, (0, None))
    if found is None and taken <= most:
        steps = Steps(most)
        try:
            risk = risks(component, invariant=invariant, steps=steps)
        except TooManySurjectionsError:
            risk = None
        taken = steps.taken
        if risk is not None:
            found = [float(risk[row].get(row[1], Fraction(0))) for row in people] if risk else []
        counted[key] = taken, found
    return (taken, found) if taken <= most else (most + 1, None)


def _contents(
    linked: pl.DataFrame,
    size: pl.DataFrame,
    rows: pl.DataFrame,
    groups: pl.DataFrame,
    releases: Sequence[Published],
) -> Iterator[Component]:
    """List the groups of each component's rows and what they hold, by release; smallest component first."""
    small = rows.join(size, on="component").sort("people", "component", "row")
    order = small["component"].unique(maintain_order=True).to_list()
    covered: dict[tuple[int, int], Covered] = defaultdict(lambda: defaultdict(list))
    pairs = linked.join(small.select("row", "component"), on="row").sort("row", "group")
    for component, release, person, value, group in pairs.select(
        "component", "release", "person", "value", "group_id"
    ).iter_rows():
        covered[component, release][person, value].append(group)
    inside = groups.join(size, on="component", how="semi")
    held: dict[tuple[int, int], dict[tuple[Hashable, Hashable], int]] = defaultdict(dict)
    forged: dict[tuple[int, int], dict[Hashable, int]] = defaultdict(dict)
    for number, published in enumerate(releases):
        here = inside.filter(release=number).select("component", "group_id")
        for component, group, value, count in (
            published.values.join(here, on="group_id")
            .select("component", "group_id", "value", "tuples")
            .rows()
        ):
            held[component, number][group, value] = count
        for component, group, count in (
            published.counterfeits.join(here, on="group_id").select("component", "group_id", "count").rows()
        ):
            forged[component, number][group] = count
    for component in order:
        yield [
            (covered[component, number], Contents(held[component, number], forged[component, number]))
            for number in range(len(releases))
        ]
