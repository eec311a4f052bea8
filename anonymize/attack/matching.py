"""Values that no consistent assignment of tuples to people leaves a person: an attack by matching.

Intersecting looks at one person at a time. But the people of a group share out its tuples, so a value that
others must have is nobody else's. An assignment is consistent with one release if every person gets one
tuple of a group that covers them, and every group has so many tuples left over as it has counterfeits. A
value is struck off a person's candidates if no assignment that is consistent with one release gives it
to them; what is struck off in one release is gone in the others, until nothing more is.

All that is struck off is impossible, so that a person with one candidate left has it for certain. The
converse does not hold: releases are looked at one by one, so a candidate that is left may be impossible
(`exact_risk` decides, on few people).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.attack.coverage import covering
from republish.anonymize.formats.published import Published
from republish.anonymize.late import on_first_call

connected_components = on_first_call("scipy.sparse.csgraph", "connected_components")
maximum_flow = on_first_call("scipy.sparse.csgraph", "maximum_flow")
coo_array = on_first_call("scipy.sparse", "coo_array")

ROUNDS = 100
"""Passes over the releases. A pass more can only strike off more."""

EDGES_LIMIT = 2 * 10**7
"""Choices (a person, a group that covers them, a value of it) of one release up to which it is attacked."""


@dataclass(frozen=True)
class Matched:
    """The candidates that are left of everybody."""

    left: pl.DataFrame
    """`person`, `value` (the true one), `candidate`: a row for every value that is left."""
    left_out: tuple[int, ...]
    """Releases (counted from 1) with more choices than the limit: only intersected, not matched."""

    @property
    def candidates(self) -> pl.DataFrame:
        """`person`, `value`, `candidates`: how many values are left; 1 means known for certain."""
        return self.left.group_by("person", "value").agg(pl.len().cast(pl.Int32).alias("candidates"))


def covering_groups(people: pl.DataFrame, published: Published) -> pl.DataFrame:
    """List every group that covers each person: `person`, `value`, `group_id`.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 10, condition 3.3.
    """
    names = [column.removesuffix("_low") for column in published.boxes.columns if column.endswith("_low")]
    points = people.select(names).unique()
    # The kernel takes less time if points are sorted, by the attribute with most codes first.
    names.sort(key=lambda name: -points[name].n_unique())
    points = points.select(names).sort(names)
    point, box = covering(points, published.boxes)
    found = points[point].with_columns(published.boxes["group_id"].gather(box)).unique()
    return people.join(found, on=names, nulls_equal=True).select("person", "value", "group_id")


def match(
    covering: Sequence[pl.DataFrame],
    releases: Sequence[Published],
    hosts: Sequence[pl.DataFrame] | None = None,
    *,
    edges: int = EDGES_LIMIT,
) -> Matched:
    """Strike off what no assignment consistent with each release gives a person.

    Parameters
    ----------
    covering
        For each release: `person`, `value` (the true one, which tells apart a person's tuples), `group_id`:
        the groups that an adversary knows may hold the person. Those that cover them (`covering_groups`), or
        the hosting group alone, for an adversary who knows everybody's.
    releases
        T*(1), …, T*(n).
    hosts
        For each release: `person`, `group_id`, the true hosting groups, if they are known. If not, the true
        values are assigned to groups in some way that fits.
    edges
        Choices up to which a release is attacked.

    Raises
    ------
    ValueError
        If the people can't have been published as these releases: their true values don't fit.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 10 and 13, Lemma 2. Edges of no perfect matching:
    Dulmage and Mendelsohn, Coverings of bipartite graphs, 1958; Régin, A filtering algorithm for constraints
    of difference, AAAI 1994.
    """
    rows = pl.concat([one.select("person", "value") for one in covering]).unique().sort("person", "value")
    rows = rows.with_row_index("row")
    values = pl.concat([one.values["value"] for one in releases]).unique().to_frame("value")
    values = values.with_row_index("code")
    graphs = [
        _Graph.of(one, published, rows, values, None if hosts is None else hosts[number])
        for number, (one, published) in enumerate(zip(covering, releases, strict=True))
    ]
    allowed = _Allowed(len(rows), len(values))
    for graph in graphs:
        allowed.keep(graph.present, graph.row, graph.code)
    matched = [graph for graph in graphs if len(graph.row) <= edges]
    for graph in matched:
        graph.settle()
    for _ in range(ROUNDS):
        # Each release in turn, even if an earlier one has already changed something.
        if not sum(graph.strike_off(allowed) for graph in matched):
            break
    return Matched(
        allowed.frame(rows, values),
        tuple(number for number, graph in enumerate(graphs, start=1) if len(graph.row) > edges),
    )


class _Allowed:
    """The candidates of every row, as sorted numbers row x values + code."""

    def __init__(self, rows: int, values: int):
        self.values = values
        self.pairs = np.empty(0, dtype=np.int64)
        self.seen = np.zeros(rows, dtype=bool)

    def has(self, row: np.ndarray, code: np.ndarray) -> np.ndarray:
        """bool[N]: whether a row may have a value."""
        pairs = row * self.values + code
        at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return self.pairs[at] == pairs if len(self.pairs) else np.zeros(len(pairs), dtype=bool)

    def keep(self, present: np.ndarray, row: np.ndarray, code: np.ndarray) -> bool:
        """Leave the rows that are present none but these values; whether that changed anything."""
        found = np.unique(row * self.values + code)
        is_present = np.zeros(len(self.seen), dtype=bool)
        is_present[present] = True
        stays = ~is_present[self.pairs // self.values] | np.isin(self.pairs, found, assume_unique=True)
        new = found[~self.seen[found // self.values]]
        self.seen |= is_present
        self.pairs = np.union1d(self.pairs[stays], new)
        return bool(len(new) or not stays.all())

    def frame(self, rows: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
        """`person`, `value`, `candidate`."""
        row, code = np.divmod(self.pairs, max(self.values, 1))
        return rows[row].select("person", "value", values["value"].gather(code).alias("candidate"))


@dataclass
class _Graph:
    """One release: which tuples each row may have."""

    present: np.ndarray
    """int64[P]: the rows of the people in the release."""
    row: np.ndarray
    """int64[E]: one of `present`."""
    slot: np.ndarray
    """int64[E]: a group's tuples of one value."""
    code: np.ndarray
    """int64[E]: that value."""
    is_true: np.ndarray
    """bool[E]: whether it is the row's own value (in its own group, if groups are known)."""
    tuples: np.ndarray
    """int64[S]: of each slot."""
    group: np.ndarray
    """int64[S]: the group of each slot."""
    people: np.ndarray
    """int64[G]: how many tuples of each group are people's."""
    struck: bool = False
    """Whether all that this release makes impossible was struck off, as things stood then."""

    @classmethod
    def of(
        cls,
        covering: pl.DataFrame,
        published: Published,
        rows: pl.DataFrame,
        values: pl.DataFrame,
        hosts: pl.DataFrame | None,
    ) -> _Graph:
        """The choices of a release."""
        groups = published.sizes.join(published.counterfeits, on="group_id", how="left")
        people = pl.col("size").cast(pl.Int64) - pl.col("count").fill_null(0)
        groups = groups.sort("group_id").select("group_id", people.alias("people")).with_row_index("group")
        slots = (
            published.values.join(groups, on="group_id", how="left")
            .join(values, on="value", how="left")
            .sort("group", "code")
            .with_row_index("slot")
        )
        own = pl.col("value") == pl.col("value_true")
        if hosts is not None:
            covering = covering.join(hosts.rename({"group_id": "host"}), on="person", how="left")
            own = own & (pl.col("group_id") == pl.col("host"))
        edges = (
            covering.rename({"value": "value_true"})
            .join(rows.rename({"value": "value_true"}), on=["person", "value_true"], how="left")
            .join(slots, on="group_id", how="inner")
            .with_columns(own.fill_null(value=False).alias("is_true"))
        )
        here = covering.join(rows, on=["person", "value"])["row"].unique()
        row_of, slot_of, code_of = (
            edges[name].to_numpy().astype(np.int64) for name in ("row", "slot", "code")
        )
        tuples_of, group_of = (slots[name].to_numpy().astype(np.int64) for name in ("tuples", "group"))
        room, is_true = groups["people"].to_numpy().astype(np.int64), edges["is_true"].to_numpy()
        rows_here = here.to_numpy().astype(np.int64)
        return cls(rows_here, row_of, slot_of, code_of, is_true, tuples_of, group_of, room)

    def settle(self) -> None:
        """Choose one true tuple for each row, so that every group has its people.

        Raises
        ------
        ValueError
            If there is no such choice.
        """
        chosen = np.flatnonzero(self.is_true)
        if len(chosen) != len(self.present):
            chosen = chosen[self._flow(chosen)]
        used = np.bincount(self.slot[chosen], minlength=len(self.tuples))
        hosted = np.bincount(self.group, weights=used, minlength=len(self.people))
        fits = len(np.unique(self.row[chosen])) == len(self.present) and (used <= self.tuples).all()
        if not fits or not np.array_equal(hosted, self.people):
            raise ValueError("these people's values cannot have been published as these groups")
        self.is_true = np.zeros(len(self.row), dtype=bool)
        self.is_true[chosen] = True

    def _flow(self, edges: np.ndarray) -> np.ndarray:
        """bool[len(edges)]: the edges that a largest flow from rows to groups uses."""
        rows, row = np.unique(self.row[edges], return_inverse=True)
        slots, groups = len(self.tuples), len(self.people)
        slot0, group0 = 1 + len(rows), 1 + len(rows) + slots
        sink = group0 + groups
        arcs = [
            (np.zeros(len(rows), dtype=np.int64), 1 + np.arange(len(rows)), np.ones(len(rows))),
            (1 + row, slot0 + self.slot[edges], np.ones(len(edges))),
            (slot0 + np.arange(slots), group0 + self.group, self.tuples),
            (group0 + np.arange(groups), np.full(groups, sink), np.maximum(self.people, 0)),
        ]
        tail, head, capacity = (np.concatenate(part) for part in zip(*arcs, strict=True))
        network = coo_array((capacity.astype(np.int32), (tail, head)), shape=(sink + 1, sink + 1)).tocsr()
        flow = maximum_flow(network, 0, sink).flow.tocsr()
        return np.asarray(flow[1 + row, slot0 + self.slot[edges]]).ravel() > 0

    def strike_off(self, allowed: _Allowed) -> bool:
        """Keep the choices that some assignment makes; whether anything was struck off.

        Given one assignment, an edge is in another one exactly if it is on a cycle of the residual graph.
        """
        stays = allowed.has(self.row, self.code)
        if self.struck and stays.all():
            return False
        self.struck = True
        self.row, self.slot, self.code, self.is_true = (
            part[stays] for part in (self.row, self.slot, self.code, self.is_true)
        )
        slots, first = len(self.tuples), len(allowed.seen)
        used = np.bincount(self.slot[self.is_true], minlength=slots)
        node, group = first + np.arange(slots), first + slots + self.group
        free, full = used < self.tuples, used > 0
        rows = self.row, first + self.slot
        tail = np.concatenate([np.where(self.is_true, rows[1], rows[0]), node[free], group[full]])
        head = np.concatenate([np.where(self.is_true, rows[0], rows[1]), group[free], node[full]])
        size = first + slots + len(self.people)
        graph = coo_array((np.ones(len(tail), dtype=bool), (tail, head)), shape=(size, size)).tocsr()
        _, label = connected_components(graph, connection="strong")
        possible = self.is_true | (label[rows[0]] == label[rows[1]])
        return allowed.keep(self.present, self.row[possible], self.code[possible])
