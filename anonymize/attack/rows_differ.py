"""Rows of one person with equal candidate values, of which groups of several releases prove that they differ.

Rows that share a group, in any release, have different values. So rows are points of a graph, those that ever
shared a group are joined, and what the rows of a signature may have is a colouring with its values. Two rows
of a person are proven to differ if no colouring gives them one colour. With two values, every path from one
to the other decides. With more, rows that can always be coloured last are left out, and all colourings are
tried, as many steps as there are. What is not found so is not decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import networkx as nx
import polars as pl

from republish.anonymize.attack.assignments import SeriesInput
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.judged import Bounds
from republish.anonymize.columns import VALUE
from republish.anonymize.people.persons import persons_of
from republish.anonymize.rounding import FEW_STEPS

STEPS = 10_000
"""The rows that are coloured, or coloured again, to decide on one pair."""
PAIRS = 64
"""The pairs of rows that are looked at to tell two values of a person apart; a person seldom has as many."""


def attack_rows_differ(seen: SeriesInput, most: Bounds[float], *, steps: int = STEPS) -> AttackResult | None:
    """Count the people for whom groups prove more values under one signature than its size allows (`most`).

    A person with k values under a signature of s has each of these with k/s. Whether rows have one value is
    looked up in the truth, since no groups prove then that they differ. A row is followed while its value
    stays: whoever follows it knows when that changes. None is returned where groups are not known.
    """
    if any(one.hosts is None for one in seen.choices) or all(bound is None for bound in most):
        return None
    rows = _rows(seen)
    with_several = rows.group_by("holder", "signature").agg(
        pl.col("person").n_unique(), pl.col(VALUE).n_unique(), pl.col("release").min()
    )
    looked_at = with_several.filter((pl.col("person") > 1) | (pl.col(VALUE) > 1))
    few, undecided, found = set[Any](), set[Any](), list[float]()
    bound = next(bound for bound in reversed(most) if bound is not None)
    suspects = looked_at.filter(pl.col(VALUE) > 1)
    for (signature,), people in suspects.group_by("signature", maintain_order=True):
        alike = rows.filter(signature=signature)
        colours, graph = int(alike["size"][0]), joined_rows(alike)
        truth = dict(alike.select("row", "colour").iter_rows())
        own = alike.join(people.select("holder", since="release"), on="holder")
        own = own.unique("row", keep="first").sort("row")
        for (holder,), its in own.group_by("holder", maintain_order=True):
            promised = most[its["since"][0] - 1]
            proven, is_decided = values_proven(
                [one["row"].to_list() for one in its.partition_by("colour", maintain_order=True)],
                graph,
                truth,
                colours,
                steps,
            )
            found.append(proven / colours)
            if promised is not None and proven / colours > promised * (1 + FEW_STEPS):
                few.add(holder)
            elif not is_decided:
                undecided.add(holder)
    sizes = looked_at.join(rows.select("signature", "size").unique(), on="signature")["size"]
    largest = max([0.0, *found, *(1 / sizes.unique())]) if len(sizes) else None
    number = looked_at["holder"].n_unique()
    return AttackResult({"differ": Count(number, len(few), largest, bound, len(undecided - few))})


def _rows(seen: SeriesInput) -> pl.DataFrame:
    """Everybody's rows in each release, by number.

    `release`, `group` (of all releases), `row` (a row of a person while it has one value), `person`,
    `holder`, `value`, `colour` (the value as a number), `signature`, `size` (how many values it has).
    """
    each = []
    for number, one in enumerate(seen.choices, start=1):
        held = one.published.values.group_by("group_id").agg(values=pl.col(VALUE).unique().sort())
        here = one.covering.select("person", VALUE, "group_id").join(held, on="group_id")
        each.append(here.with_columns(release=pl.lit(number)))
    rows = pl.concat(each)
    signatures = rows.select("values").unique(maintain_order=True).with_row_index("signature")
    rows = rows.join(signatures, on="values").with_columns(
        size=pl.col("values").list.len(), holder=persons_of(rows["person"]).rank("dense")
    )
    return rows.select(
        "release",
        "person",
        "holder",
        VALUE,
        "signature",
        "size",
        group=pl.struct("release", "group_id").rank("dense"),
        row=pl.struct("person", VALUE, "signature").rank("dense"),
        colour=pl.col(VALUE).rank("dense"),
    )


def joined_rows(rows: pl.DataFrame) -> nx.Graph:
    """Join the rows that ever shared a group, of `group`, `row`."""
    graph = nx.Graph()
    for members in rows.group_by("group").agg(pl.col("row").unique().sort())["row"].unique():
        graph.add_nodes_from(members)
        graph.add_edges_from(combinations(members, 2))
    return graph


def values_proven(
    rows: Sequence[Sequence[int]], graph: nx.Graph, truth: Mapping[int, int], colours: int, steps: int
) -> tuple[int, bool]:
    """Find how many values of a person groups prove, and whether that is decided.

    Parameters
    ----------
    rows
        The person's rows of each value.
    graph, truth
        The rows that ever shared a group with each, and the true colour of each.
    colours
        The values of the signature.
    steps
        The steps to be taken for one pair of rows.
    """
    differ, is_decided = set[tuple[int, int]](), True
    for one, other in combinations(range(len(rows)), 2):
        pairs = [(first, second) for first in rows[one] for second in rows[other]]
        told = [differing(*pair, graph, truth, colours, steps) for pair in pairs[:PAIRS]]
        if True in told:
            differ.add((one, other))
        elif None in told or len(pairs) > PAIRS:
            is_decided = False
    for size in range(len(rows), 1, -1):
        for some in combinations(range(len(rows)), size):
            if differ.issuperset(combinations(some, 2)):
                return size, is_decided
    return 1, is_decided


def differing(
    one: int, other: int, graph: nx.Graph, truth: Mapping[int, int], colours: int, steps: int
) -> bool | None:
    """Tell whether two rows have different colours in all colourings; None where the steps do not decide."""
    if graph.has_edge(one, other):
        return True
    around = nx.node_connected_component(graph, one)
    if other not in around:  # what one has says nothing of the other
        return False
    if colours == 2:  # the true colouring and its opposite are all there are
        return truth[one] != truth[other]
    both = nx.contracted_nodes(graph.subgraph(around), one, other, self_loops=False)
    # The rows outside of the core have a colour left for them, whatever all others have.
    core = nx.k_core(both, colours)
    can_be_alike = _colourable({row: set(core[row]) for row in core}, one, colours, steps)
    return None if can_be_alike is None else not can_be_alike


def _colourable(graph: Mapping[int, set[int]], first: int, colours: int, steps: int) -> bool | None:
    """Tell whether a graph has a colouring; None after so many steps. The fewest colours left come first.

    References
    ----------
    Brélaz, New methods to color the vertices of a graph, Communications of the ACM 22(4), 1979.
    """
    given: dict[int, int] = {}
    order: list[tuple[int, Iterator[int]]] = []
    taken, each = 0, 1 + len(graph) // 50

    def choose() -> int:
        if not given and first in graph:
            return first
        open_rows = (row for row in graph if row not in given)
        return max(open_rows, key=lambda row: (len(used(row)), len(graph[row]), -row))

    def used(row: int) -> set[int]:
        return {given[its] for its in graph[row] if its in given}

    def those_left(row: int) -> Iterator[int]:
        new = max(given.values(), default=-1) + 1  # colours that nobody has yet are alike
        return iter([one for one in range(min(new + 1, colours)) if one not in used(row)])

    while True:
        if len(given) == len(graph):
            return True
        row = choose()
        order.append((row, those_left(row)))
        while order:
            row, left = order[-1]
            given.pop(row, None)
            taken += each
            if taken > steps:
                return None
            if (colour := next(left, None)) is not None:
                given[row] = colour
                break
            order.pop()
        else:
            return False
