"""Top-Down Specialization for Sequential Anonymization: the view that is as useful as the requirement allows.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from republish.anonymize.contract import CategoryColumn, NumberColumn, ViewContract
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats.intervals import number_label
from republish.anonymize.sequential.index import Index, build_index
from republish.anonymize.sequential.matching import Coded, Earlier
from republish.anonymize.sequential.parameters import Sequential
from republish.anonymize.sequential.taxonomy import Cut, category_taxonomy

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
    index = build_index(coded, earlier, contract)
    run = index.run(limit)
    if run.safety < index.given.demand.needed:
        raise NotEligible(_why_not(run.most_general, index, contract, earlier))
    cuts, node = {}, {}
    for axis, name in enumerate(index.names):
        if not coded[name].fixed:
            cuts[name], node[name] = _cut(axis, coded[name], index, run.in_cut)
    return Specialized(cuts, node, run.specializations, run.most_general, run.safety)


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
        index = build_index(as_published, some, contract)
        return index.run(0).safety < index.given.demand.needed

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


def _cut(axis: int, column: Coded, index: Index, in_cut: np.ndarray) -> tuple[Cut, np.ndarray]:
    """One column's cut from left to right, and the position in it of each record."""
    nodes = index.given.nodes
    chosen = np.flatnonzero(in_cut & (nodes.axis == axis))
    chosen = chosen[np.argsort(nodes.lo[chosen], kind="stable")]
    if isinstance(column.column, CategoryColumn):
        tree = category_taxonomy(column.column.paths)
        labels = [tree.labels[node - index.given.axes.roots[axis]] for node in chosen]
    else:
        labels = [
            number_label(low, high, column.column.domain)
            for low, high in zip(nodes.low[chosen], nodes.high[chosen], strict=True)
        ]
    position = np.repeat(np.arange(len(chosen), dtype=np.int32), nodes.hi[chosen] - nodes.lo[chosen])
    of_record = position[column.codes]
    records = np.bincount(of_record, minlength=len(chosen))
    return Cut(labels, nodes.low[chosen], nodes.high[chosen], records), of_record


def _why_not(
    safety: float, index: Index, contract: ViewContract[Sequential], earlier: Sequence[Earlier]
) -> str:
    wanted = contract.principle
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
        if index.given.demand.prunes
        else "and specialization begins with a view that satisfies it"
    )
    away = "lower k" if wanted.requirement == "anonymity" else "raise k"
    return (
        f"even with the columns of x at their most general, {joined} {found}, {why}: {away}, take columns of"
        " earlier releases out of x, or leave out records"
    )
