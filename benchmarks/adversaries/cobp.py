"""CoBP-RA: hidden attributes of people, reconstructed from published rows by those attributes that are known.

A random forest tells each hidden attribute from the known ones. The forests' answers are reconciled by belief
propagation over a tree of the hidden attributes, those that go together most, and drawn towards how frequent
values are among the published rows. All attributes are whole numbers from 0 on.

References
----------
Golob, Pentyala and De Cock, SoK: Reconstruction attacks on synthetic tabular data (Insights from winning the
NIST CRC), PoPETs 2027, and its artifact (steveng9/Reconstruction), from whose description this was written.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
import numpy as np
from scipy.special import logsumexp

from republish.anonymize.arrays import Floats, Ints

TREES, DEPTH = 25, 25
NEIGHBOURS = 100
"""Published rows nearest to a person, by which it is told what goes together for people like them."""
ENOUGH = 5
"""Neighbours for each pair of values. With fewer, all published rows say what goes together."""
SMALLEST = 1e-6
"""Added to the count of each pair of values."""
DRAWN = 0.5
"""How far the answers are drawn to the frequencies: 1 is all the way."""
Columns = Mapping[str, Ints]
"""Columns of whole numbers by name."""


def rarity_weighted(truth: Ints, guesses: Ints) -> float:
    """The share of right guesses, of which each weighs as much as its value is rare: the CRC's score.

    It is 1 / C for always naming one of the C values that there are, however frequent it is.
    """
    values, of = np.unique(truth, return_inverse=True)
    return float((np.bincount(of, guesses == truth) / np.bincount(of, minlength=len(values))).mean())


def most_frequent(rows: Columns, hidden: list[str], people: int) -> dict[str, Ints]:
    """The same value for everybody: that of most published rows."""
    return {name: np.full(people, np.bincount(rows[name]).argmax()) for name in hidden}


def of_the_nearest(rows: Columns, targets: Columns, known: list[str], hidden: list[str]) -> dict[str, Ints]:
    """What the published row has that is nearest by the known attributes."""
    (nearest,) = _neighbours(rows, targets, known, 1).T
    return {name: rows[name][nearest] for name in hidden}


def cobp_ra(rows: Columns, targets: Columns, known: list[str], hidden: list[str]) -> dict[str, Ints]:
    """Reconstruct the hidden attributes, by name, of some people by their known ones.

    Parameters
    ----------
    rows
        The published rows, all attributes.
    targets
        The people, known attributes.
    """
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - large, and optional

    shown, asked = _matrix(rows, known), _matrix(targets, known)
    values, codes, answers = {}, {}, {}
    for name in hidden:
        values[name], codes[name] = np.unique(rows[name], return_inverse=True)
        forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0).fit(shown, codes[name])
        answers[name] = np.log(np.clip(forest.predict_proba(asked), 1e-12, 1))
    tree = nx.Graph()
    tree.add_nodes_from(hidden)
    for at, one in enumerate(hidden):
        for other in hidden[at + 1 :]:
            pairs = _pairs(codes[one], codes[other], len(values[one]), len(values[other]))
            tree.add_edge(one, other, weight=float((pairs / pairs.sum() * _together(pairs)).sum()))
    tree = nx.maximum_spanning_tree(tree)
    near = _neighbours(rows, targets, known, min(NEIGHBOURS, len(shown))) if tree.edges else None
    edges = {}
    for one, other in tree.edges:
        sizes = len(values[one]), len(values[other])
        local = near is not None and near.shape[1] >= ENOUGH * sizes[0] * sizes[1]
        around = near if local else np.arange(len(shown))[None]
        edges[one, other] = np.stack(
            [_together(_pairs(codes[one][some], codes[other][some], *sizes)) for some in around]
        )
    found = {}
    for name, belief in beliefs(tree, answers, edges).items():
        frequent = np.bincount(codes[name], minlength=len(values[name])) / len(shown)
        drawn = belief + DRAWN * np.log(frequent / np.exp(belief).mean(axis=0))
        found[name] = values[name][drawn.argmax(axis=1)]
    return found


def beliefs(
    tree: nx.Graph, answers: Mapping[str, Floats], edges: Mapping[tuple[str, str], Floats]
) -> dict[str, Floats]:
    """Sum-product belief propagation on a tree or a forest, exact: logarithms of probabilities.

    Parameters
    ----------
    tree
        Attributes, and which go together.
    answers
        float64[T, C] for each attribute: the logarithm of each value's probability for each person.
    edges
        float64[T, C, D] or float64[1, C, D] for each edge: by how much two values go together.
    """

    def message(sender: str, receiver: str) -> Floats:
        said = answers[sender] + sum(message(one, sender) for one in tree[sender] if one != receiver)
        is_stored = (sender, receiver) in edges
        pair = edges[sender, receiver] if is_stored else edges[receiver, sender].swapaxes(1, 2)
        return logsumexp(said[:, :, None] + pair, axis=1)

    found = {name: answers[name] + sum(message(one, name) for one in tree[name]) for name in tree}
    return {name: belief - logsumexp(belief, axis=1, keepdims=True) for name, belief in found.items()}


def _pairs(one: Ints, other: Ints, values: int, others: int) -> Floats:
    """How many rows have each pair of values."""
    return np.bincount(one * others + other, minlength=values * others).reshape(values, others) + SMALLEST


def _together(pairs: Floats) -> Floats:
    """By how much pairs of values are more frequent than by chance: pointwise mutual information."""
    share = pairs / pairs.sum()
    return np.log(share) - np.log(share.sum(axis=1, keepdims=True)) - np.log(share.sum(axis=0, keepdims=True))


def _matrix(columns: Columns, names: list[str]) -> Floats:
    return np.stack([columns[name] for name in names], axis=1).astype(np.float64)


def _neighbours(rows: Columns, targets: Columns, known: list[str], number: int) -> Ints:
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415 - large, and optional

    nearest = NearestNeighbors(n_neighbors=number).fit(_matrix(rows, known))
    found: Ints = nearest.kneighbors(_matrix(targets, known), return_distance=False)
    return found
