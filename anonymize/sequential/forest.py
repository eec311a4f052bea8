"""The nodes that a view's columns of X can be generalized to, and what it gains to specialize one of them.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 3.2 and 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.contract import CategoryColumn
from republish.anonymize.formats.intervals import half_open, number_label
from republish.anonymize.rounding import FEW_STEPS
from republish.anonymize.sequential.matching import Coded, Pairs
from republish.anonymize.sequential.taxonomy import Cut, Taxonomy, category_taxonomy

_log2 = np.frompyfunc(math.log2, 1, 1)
"""The C library's, on every processor: numpy's own logarithms differ in their last bit from one to another,
and with it the order of two candidates that gain the same."""


@dataclass(frozen=True)
class Axis:
    """A column of X that is generalized."""

    name: str
    column: Coded
    root: int
    """The node that covers all codes."""
    tally: Ints
    """int64[codes + 1, classes]: the records with smaller codes, by class."""
    tree: Taxonomy | None
    """The hierarchy; None for numbers, whose nodes are split at points."""


@dataclass
class Forest:
    """The nodes of all axes, numbered: axis after axis, then those that numbers are split into."""

    axes: list[Axis]
    information: str
    """What specialization is to gain: `class`, `distortion` or `discernibility`."""
    axis: Ints
    """int64[nodes]: the position of the axis that a node is of."""
    first: Ints
    """int64[nodes]: its first child; the others follow."""
    children: Ints
    """int64[nodes]: how many it has; 0 where a number is not split yet."""
    lo: Ints
    """int64[nodes]: the first code it covers."""
    hi: Ints
    """int64[nodes]: the code after the last one."""
    low: Floats
    """float64[nodes]: where its published interval begins."""
    high: Floats
    """float64[nodes]: where it ends, half-open."""
    flags: Words
    """uint64[nodes]: the inconsistent pairs that it is one half of."""
    gain: Floats
    """float64[nodes]: InfoGain of specializing it (section 5.2)."""
    used: int
    """How many nodes are made; there is room for those that numbers will be split into."""

    def open(self, v: int) -> bool:
        """Find the children of a node and what they gain; whether it can be specialized."""
        axis = self.axes[self.axis[v]]
        records = axis.tally[self.hi[v]] - axis.tally[self.lo[v]]
        if axis.tree is None:
            if self.hi[v] - self.lo[v] < 2:
                return False
            self._split(v, *self._best_point(v))
            return True
        # A node that no record has is left as it is: to specialize it says nothing.
        if self.children[v] == 0 or not records.any():
            return False
        if self.information == "class":
            gain = float(_entropy(records))
            for child in self.below(v):
                part = axis.tally[self.hi[child]] - axis.tally[self.lo[child]]
                gain -= float(part.sum() / records.sum() * _entropy(part))
            self.gain[v] = max(gain, 0.0)
        elif self.information == "distortion":
            self.gain[v] = records.sum()
        return True

    def below(self, v: int) -> range:
        """The children of a node."""
        return range(self.first[v], self.first[v] + self.children[v])

    def child_of(self, v: int, codes: Ints) -> Ints:
        """int64: the child of a node that covers each code."""
        below = self.lo[self.first[v] : self.first[v] + self.children[v]]
        child: Ints = self.first[v] - 1 + np.searchsorted(below, codes, side="right")
        return child

    def cut(self, axis: int, in_cut: Bools) -> tuple[Cut, Ints]:
        """One axis's cut from left to right, and the position in it of each record."""
        chosen = np.flatnonzero(in_cut & (self.axis == axis))
        chosen = chosen[np.argsort(self.lo[chosen], kind="stable")]
        coded, low, high = self.axes[axis].column, self.low[chosen], self.high[chosen]
        if isinstance(column := coded.column, CategoryColumn):
            labels = [category_taxonomy(column.paths).labels[v - self.axes[axis].root] for v in chosen]
        else:
            labels = [number_label(*ends, column.domain) for ends in zip(low, high, strict=True)]
        position = np.repeat(np.arange(len(chosen), dtype=np.int32), self.hi[chosen] - self.lo[chosen])
        of_record = position[coded.codes]
        return Cut(labels, low, high, np.bincount(of_record, minlength=len(chosen))), of_record

    def _best_point(self, v: int) -> tuple[float, int]:
        """Gain of the best binary split, and its upper half's first code; of equals, the most even one."""
        axis, lo, hi = self.axes[self.axis[v]], self.lo[v], self.hi[v]
        below, above = axis.tally[lo + 1 : hi] - axis.tally[lo], axis.tally[hi] - axis.tally[lo + 1 : hi]
        n_below, n_above = below.sum(axis=1), above.sum(axis=1)
        records = n_below[0] + n_above[0]
        if self.information == "class":
            whole = _entropy(axis.tally[hi] - axis.tally[lo])
            parts = whole - n_below / records * _entropy(below) - n_above / records * _entropy(above)
            gains = np.maximum(parts, 0.0)
        elif self.information == "distortion":
            low, high, (start, end) = self.low[v], self.high[v], domain_of(axis.column)
            point = (axis.column.low[lo : hi - 1] + axis.column.low[lo + 1 : hi]) / 2
            whole = records * (high - low)
            gains = (whole - n_below * (point - low) - n_above * (high - point)) / (end - start)
        else:
            gains = 2.0 * n_below * n_above
        even = np.abs(n_above - n_below)
        # The others are worse than one before them.
        near = np.flatnonzero(gains >= np.maximum.accumulate(gains) - 3 * FEW_STEPS)
        best, best_even, at = -np.inf, np.inf, 0
        for s, gain, difference in zip(near.tolist(), gains[near].tolist(), even[near].tolist(), strict=True):
            if gain > best + FEW_STEPS or (gain > best - FEW_STEPS and difference < best_even):
                best, best_even, at = max(gain, best), difference, s
        return best, int(lo) + 1 + at

    def _split(self, v: int, gain: float, s: int) -> None:
        """Give a node of numbers two children, of codes below `s` and from `s` on."""
        axis = self.axes[self.axis[v]]
        below, above = axis.column.low[s - 1], axis.column.low[s]
        point = (below + above) / 2
        if axis.column.column.discrete:
            point = np.ceil(point)
        elif point <= below:
            point = above
        children = slice(self.used, self.used + 2)
        self.first[v], self.children[v] = self.used, 2
        self.axis[children] = self.axis[v]
        self.lo[children], self.hi[children] = (self.lo[v], s), (s, self.hi[v])
        self.low[children], self.high[children] = (self.low[v], point), (point, self.high[v])
        self.used += 2
        self.gain[v] = gain


def _entropy(counts: Ints) -> Floats:
    """Entropy, in bits, of the class; the last dimension is that of the classes."""
    records = counts.sum(axis=-1)
    entropy = np.zeros(records.shape)
    for of_class in np.moveaxis(counts, -1, 0):
        share = np.divide(of_class, records, out=np.ones(records.shape), where=of_class > 0)
        entropy = entropy - share * np.asarray(_log2(share), np.float64)
    return entropy


def build_forest(coded: Mapping[str, Coded], names: Sequence[str], information: str, pairs: Pairs) -> Forest:
    """The trees of the columns that are generalized, before any number is split."""
    kind, _, class_column = information.partition(":")
    classes = coded[class_column].codes if class_column else np.zeros(1, np.int64)
    axes, used = [], 0
    for name in names:
        column = coded[name].column
        tree = category_taxonomy(column.paths) if isinstance(column, CategoryColumn) else None
        axes.append(Axis(name, coded[name], used, _tally(coded[name], classes), tree))
        used += 1 if tree is None else len(tree.low)
    room = used + sum(2 * len(axis.column.low) for axis in axes if axis.tree is None)
    axis_of, first, children, lo, hi = np.zeros((5, room), np.int64)
    low, high, gain = np.zeros((3, room))
    flags = np.zeros(room, np.uint64)
    forest = Forest(axes, kind, axis_of, first, children, lo, hi, low, high, flags, gain, used)
    for position, axis in enumerate(axes):
        root = axis.root
        if (tree := axis.tree) is None:
            forest.axis[root], forest.hi[root] = position, len(axis.column.low)
            forest.low[root], forest.high[root] = domain_of(axis.column)
            continue
        nodes = slice(root, root + len(tree.low))
        forest.axis[nodes], forest.first[nodes], forest.children[nodes] = (
            position,
            tree.first + root,
            tree.children,
        )
        forest.lo[nodes], forest.hi[nodes] = forest.low[nodes], forest.high[nodes] = tree.low, tree.high
        forest.flags[nodes] = pairs.flags(axis.name, forest.low[nodes], forest.high[nodes])
    return forest


def domain_of(column: Coded) -> tuple[float, float]:
    """Where the root of a column begins, and where it ends, half-open."""
    if isinstance(column.column, CategoryColumn):
        return 0.0, float(len(category_taxonomy(column.column.paths).leaves))
    low, high = column.column.domain
    return float(low), half_open(high, discrete=column.column.discrete)


def _tally(column: Coded, classes: Ints) -> Ints:
    """int64[codes + 1, classes]: the records with smaller codes, by class."""
    number = int(classes.max(initial=0)) + 1
    counts = np.bincount(column.codes.astype(np.int64) * number + classes, minlength=len(column.low) * number)
    return np.concatenate([np.zeros((1, number), np.int64), counts.reshape(-1, number).cumsum(axis=0)])
