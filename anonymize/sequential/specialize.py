"""Top-Down Specialization for Sequential Anonymization: the view that is as useful as the requirement allows.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.contract import NumberColumn, ViewContract
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats.intervals import number_label
from republish.anonymize.sequential.forest import build_forest
from republish.anonymize.sequential.linked import Linked
from republish.anonymize.sequential.matching import Coded, Earlier, Pairs
from republish.anonymize.sequential.parameters import Sequential
from republish.anonymize.sequential.partitions import Step, numbered
from republish.anonymize.sequential.taxonomy import Cut

UNLIMITED = 2**31 - 1
MOST_NAMED = 5
"""So many of the releases that are joined are named in a refusal."""


@dataclass(frozen=True)
class Specialized:
    """A view that satisfies the requirement, and can't be specialized further."""

    cuts: Mapping[str, Cut]
    """Of each generalized column, by name."""
    node: Mapping[str, np.ndarray]
    """int32[N]: the node of its column's cut that each record is under."""
    specializations: int
    """Specializations performed."""
    most_general: float
    """Safety before the first of them."""
    safety: float
    """Safety of the result."""


def specialize(
    coded: Mapping[str, Coded],
    earlier: Sequence[Earlier],
    contract: ViewContract[Sequential],
    limit: int = UNLIMITED,
) -> Specialized:
    """Specialize the view from its most general state while the join keeps what is required.

    Each time the valid candidate with the highest InfoGain / (PrivLoss + 1) is specialized, up to `limit`
    times. The join is never executed: everything is counted on partitions.

    Raises
    ------
    NotEligible
        If not even the most general view satisfies the requirement.

    References
    ----------
    Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 5.1 to 5.4; star joins: section 7.
    """
    view = _View(coded, earlier, contract)
    if view.safety < view.linked.needed:
        raise NotEligible(_why_not(view, contract, earlier))
    most_general, specializations = view.safety, 0
    while specializations < limit and (winner := view.best()) is not None:
        view.specialize(winner)
        specializations += 1
    cuts, node = {}, {}
    for at, name in enumerate(view.linked.axes):
        cuts[name], node[name] = view.forest.cut(at, view.in_cut)
    return Specialized(cuts, node, specializations, most_general, view.safety)


class _View:
    """A view between two specializations."""

    def __init__(
        self, coded: Mapping[str, Coded], earlier: Sequence[Earlier], contract: ViewContract[Sequential]
    ):
        self.linked = linked = Linked(coded, earlier, contract)
        self.forest = forest = build_forest(
            coded, linked.axes, contract.principle.information, Pairs.of(contract)
        )
        size, width, nodes = len(linked.records), len(linked.axes), len(forest.axis)
        self.in_cut = np.zeros(nodes, np.bool_)
        """Of each node: whether it is in the cut of its column."""
        self.node = np.zeros((size, width), np.int64, order="F")
        """int64[rows, axes]: the node that each row is under."""
        self.child = np.full((size, width), -1)
        """int64[rows, axes]: the child of this node that covers it; -1 if the node can't be specialized."""
        self.after = np.full((size, width), np.inf)
        """float64[rows, axes]: safety of the row's partition, once this node is specialized."""
        self.least_after = np.full(nodes, np.inf)
        """float64[nodes]: the least that was found of it since the node is in the cut."""
        self.candidates = np.zeros(0, np.int64)
        """int64: the nodes that can be specialized."""
        every, group, self.matches = linked.most_general
        self.group = group.copy()
        """int64[rows]: the partition that each row is in."""
        self.groups = int(group.max(initial=-1)) + 1
        """More than the number of any of them."""
        self.value = linked.safety(every, group, self.matches)[group]
        """float64[rows]: safety of the row's partition."""
        self.safety = self.value.min(initial=np.inf)
        """Of the least safe partition."""
        for axis in forest.axes:
            self._open(axis.root, every)
        self._assess(every)

    def best(self) -> int | None:
        """The valid candidate with the highest score; of several the first node. None if none is valid."""
        candidates, needed = self.candidates, self.linked.needed
        safe = self._safe_after()[candidates]
        if self.linked.prunes:
            safe = np.minimum(safe, self.safety)
            candidates, safe = candidates[safe >= needed], safe[safe >= needed]
            self.candidates = candidates
        lost = np.zeros(len(safe))  # of infinities there is no difference
        np.subtract(self.safety, safe, out=lost, where=safe < self.safety)
        score = self.forest.gain[candidates] / (lost + 1.0)
        score[safe < needed] = -1.0
        if score.max(initial=-1.0) <= -1.0:
            return None
        return int(candidates[score == score.max()].min())

    def specialize(self, winner: int) -> None:
        """Replace a node of a cut by its children."""
        axis = int(self.forest.axis[winner])
        rows = np.flatnonzero(self.node[:, axis] == winner)
        step = self._step(axis, rows)
        group, _ = step.number(self.group[rows])
        self.group[rows] = self.groups + group
        self.groups += int(group.max()) + 1
        self.matches = [
            one.after(match, step) for one, match in zip(self.linked.earlier, self.matches, strict=True)
        ]
        self.value[rows] = self.after[rows, axis]
        least = self.value[rows].min() if self.linked.prunes else self.value.min()
        self.safety = min(self.safety, least) if self.linked.prunes else least
        self.in_cut[winner] = False
        self.candidates = self.candidates[self.candidates != winner]
        for child in self.forest.below(winner):
            self._open(child, rows[step.after == child])
        self._assess(rows)

    def _open(self, v: int, rows: Ints) -> None:
        """Put a node that covers these rows into the cut, and among the candidates if it has children."""
        axis = int(self.forest.axis[v])
        self.in_cut[v] = True
        self.node[rows, axis], self.child[rows, axis] = v, -1
        if self.forest.open(v):
            self.candidates = np.append(self.candidates, v)
            codes = self.linked.codes[self.linked.axes[axis]]
            self.child[rows, axis] = self.forest.child_of(v, codes[rows])

    def _step(self, axis: int, rows: Ints) -> Step:
        """Rows, each specialized on one axis."""
        node, child = self.node[rows, axis], self.child[rows, axis]
        return Step(self.linked.axes[axis], rows, node, child, self.forest)

    def _assess(self, rows: Ints) -> None:
        """Count how safe rows would be after each candidate above them: a group-by for each column."""
        discerns = self.forest.information == "discernibility"
        if discerns:  # what is gained depends on all partitions below a node
            rows = np.arange(len(self.group))
        for axis in range(len(self.linked.axes)):
            some = rows[self.child[rows, axis] >= 0]
            if not len(some):
                continue
            step, node = self._step(axis, some), self.node[some, axis]
            group, first = step.number(self.group[some])
            found = [
                one.specialized(match, step)
                for one, match in zip(self.linked.earlier, self.matches, strict=True)
            ]
            self.after[some, axis] = self.linked.safety(some, group, found)[group]
            np.minimum.at(self.least_after, node, self.after[some, axis])
            if discerns:
                together, row = numbered(self.group[some])
                gain, records = self.forest.gain, self.linked.records[some]
                gain[node] = 0.0
                np.add.at(gain, node[row], np.bincount(together, records) ** 2)
                np.subtract.at(gain, node[first], np.bincount(group, records) ** 2)

    def _safe_after(self) -> Floats:
        """float64[nodes]: safety of the view after each candidate is specialized, as far as it is known."""
        if self.linked.prunes:  # then the others are as safe as they were
            return self.least_after
        safe = np.full(len(self.in_cut), np.inf)
        for axis in range(self.node.shape[1]):
            node = self.node[:, axis]
            now = np.full(len(safe) + 1, np.inf)
            np.minimum.at(now, node, self.value)
            np.minimum.at(safe, node, self.after[:, axis])
            least, second = np.partition(now, 1)[:2]
            in_axis = self.forest.axis == axis
            others = np.where(now[:-1] == least, second, least)
            safe[in_axis] = np.minimum(safe, others)[in_axis]
        return safe


def specialize_for_each(
    coded: Mapping[str, Coded], joins: Sequence[Sequence[Earlier]], contract: ViewContract[Sequential]
) -> Specialized:
    """Specialize the view for the first of the joins, as far as each of the others keeps what is required.

    What is safe in a join need not be safe in one with fewer releases: views of the same people multiply
    records, and hide what is seen without them. While other joins object, the view gets the finest cuts that
    are above its own and those for each join that objects; and the most general ones if a join objects to
    cuts above those for it: generalizing is only sure to help where X has the join attributes.

    Raises
    ------
    NotEligible
        If not even the most general view satisfies the requirement, in the first join or in one that objects.
    """

    def objects(some: Sequence[Earlier], view: Specialized) -> bool:
        as_published = {name: _published(column, name, view) for name, column in coded.items()}
        linked = Linked(as_published, some, contract)
        return bool((linked.safety(*linked.most_general) < linked.needed).any())

    first = joins[0]
    found, heard = specialize(coded, first, contract), {0}
    while objecting := {at for at, some in enumerate(joins) if at not in heard and objects(some, found)}:
        views = (specialize(coded, joins[at], contract) for at in sorted(objecting))
        found, heard = reduce(partial(_common, coded), views, found), heard | objecting
    if len(heard) > 1 and any(objects(joins[at], found) for at in heard):
        found, *_ = [specialize(coded, some, contract, limit=0) for some in joins]
    return found


def _published(column: Coded, name: str, view: Specialized) -> Coded:
    """A column of the view as it is published: the nodes of its cut are its codes."""
    if name not in view.cuts:
        return column
    cut = view.cuts[name]
    return replace(column, codes=view.node[name], low=cut.low, high=cut.high, labels=cut.labels, fixed=True)


def _common(coded: Mapping[str, Coded], one: Specialized, other: Specialized) -> Specialized:
    """The finest view whose cuts are above those of two views of the same people."""
    cuts, node = {}, {}
    for name, cut in one.cuts.items():
        labels: dict[tuple[float, float], str] = {}
        for each in (cut, other.cuts[name]):
            labels |= dict(zip(zip(each.low, each.high, strict=True), each.labels, strict=True))
        low = np.intersect1d(cut.low, other.cuts[name].low)
        high = np.append(low[1:], cut.high[-1])
        ends = list(zip(low, high, strict=True))
        if isinstance(column := coded[name].column, NumberColumn):
            labels = {end: number_label(*end, column.domain) for end in ends}
        node[name] = np.searchsorted(low, cut.low[one.node[name]], side="right").astype(np.int32) - 1
        records = np.bincount(node[name], minlength=len(low))
        cuts[name] = Cut([labels[end] for end in ends], low, high, records)
    fewer = min(one.specializations, other.specializations)
    return replace(one, cuts=cuts, node=node, specializations=fewer)


def _why_not(view: _View, contract: ViewContract[Sequential], earlier: Sequence[Earlier]) -> str:
    wanted, safety = contract.principle, view.safety
    names = {contract.identifier, *(column.name for column in contract.columns)}
    there = names.union(*({*one.names, one.record} for one in earlier))
    x, y = (", ".join(name for name in some if name in there) for some in (wanted.x, wanted.y))
    joined = "in the view alone"
    if earlier:
        joined = f"in the join with {' and '.join(one.where for one in earlier[:MOST_NAMED])}"
    if len(earlier) > MOST_NAMED:
        joined += f" and {len(earlier) - MOST_NAMED} more"
    if wanted.requirement == "anonymity":
        found = f"a value on {x} is linked to {int(safety)} of {y}, and k is {wanted.k}"
    elif isinstance(wanted.k, float):
        confidence = f"{wanted.k - safety:.6g}, and k is {wanted.k:.6g}"
        found = f"a value on {x} implies one of {y} with a confidence of {confidence}"
    else:
        found = f"a value on {x} implies one of {y} with a confidence {-safety:.3g} above its k"
    why = (
        "so no generalization satisfies it"
        if view.linked.prunes
        else "and specialization begins with a view that satisfies it"
    )
    away = "lower k" if wanted.requirement == "anonymity" else "raise k"
    return (
        f"even with the columns of x at their most general, {joined} {found}, {why}: {away}, take columns of"
        " earlier releases out of x, or leave out records"
    )
