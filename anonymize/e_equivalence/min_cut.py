"""The smallest cuts of the bucket graphs: Theorem 2, one cut a release.

docs/explanation/e_equivalence.md says what the graph of a bucket is. Let w_k be the weight that an attack
gives to the bucket's partition in release k, and f(a) = w_a + … + w_n the sum of the weights from release a
on, f(0) = 0. A tuple inserted in a and deleted in d takes part in the attack with f(a) - f(d), which has to
be a whole number. An attack on e people and e others has 2e = Σ |f(a) - f(d)| over all tuples. The weights
may be any real numbers.

**Theorem 2.** If tuples with single lifespans are edges, no attack has 2e below the smallest cut of a
connected component. Proof: f differs somewhere within a component, or nobody takes part. The nodes with the
largest f there are separated from the others by edges on each of which f changes by at least 1. ∎ The proof
looks at each bucket alone, so attacks that combine signatures are covered.

**Settled cuts.** A set of nodes without node 0, whose youngest node is k, has the same weight in the graph of
release k and in all later ones. Proof: a later deletion turns an edge to 0 into an edge to a younger node;
both are outside the set. ∎ So of all cuts of release n just those between n and 0 are new, and the smallest
of them is one maximum flow.

**Not connected.** Where n and 0 are not connected, release n adds no attack. Proof: all tuples of n's
component are gone, so it never changes again. Subtracting f(n) from f on all of the component changes
nobody's part in the attack, and makes f(n) = 0: the attack does without release n. ∎

**People who come back.** A person with lifespans [a, d) and [b, c) takes part with f(a) - f(d) + f(b) - f(c),
which may be 0 though each lifespan crosses a cut. So from the release b of their return on they are no edge:
cuts between n and 0 for n ≥ b are computed without them, and whether n and 0 are connected is asked with all
lifespans of everybody.

Proof that it is safe. Take an attack, and the youngest release k with f(k) ≠ 0, say f(k) > 0. If k and 0 are
not connected (by any lifespan), f(k) can be subtracted as above, which changes no lifespan's term; so let
them be connected. Let L be the nodes with f ≥ f(k): k is in it, 0 and everything younger than k are not.
Lifespans that begin after k add nothing, f being 0 at both ends. A person with a single lifespan up to k
takes part with f(a) - f(d), a whole number, not 0 if the lifespan crosses L. So 2e is at least the weight of
L counting just those people, which is one of the cuts that release k was made for: above 2(e-1). ∎
"""

from __future__ import annotations

import numpy as np
import scipy

from republish.anonymize.arrays import Ints


def cuts_between(
    bucket: Ints, first: Ints, second: Ints, weight: Ints, newest: int, buckets: int
) -> np.ndarray:
    """int64[buckets]: the smallest cut between the newest node and node 0 in the graph of every bucket.

    It is 0 where the two nodes are not connected. Of each edge, int[E], there are its bucket, 0 … buckets -
    1, the nodes that it joins (0, or the number of a release up to `newest`), and its weight. Edges may be
    parallel.

    References
    ----------
    A largest flow is as large as a smallest cut: Ford and Fulkerson, 1956.
    """
    # The flows of all buckets are one: it enters each graph at its newest node, and leaves at its node 0.
    each, one = np.arange(buckets), np.ones(buckets, int)
    bucket_of = np.concatenate([each, each, bucket, bucket])
    nodes, place = np.unique(
        bucket_of * (newest + 1) + np.concatenate([one * newest, one * 0, first, second]), return_inverse=True
    )
    entry, leaving, tail, head = np.split(place, np.cumsum([buckets, buckets, len(bucket)]))
    source, sink = len(nodes), len(nodes) + 1
    most = np.bincount(bucket, weight, buckets)
    arcs = [
        (one * source, entry, most),
        (leaving, one * sink, most),
        (tail, head, weight),
        (head, tail, weight),
    ]
    start, end, room = (np.concatenate(part) for part in zip(*arcs, strict=True))
    network = scipy.sparse.coo_array(
        (room.astype(np.int32), (start, end)), shape=(sink + 1, sink + 1)
    ).tocsr()
    entered = scipy.sparse.csgraph.maximum_flow(network, source, sink).flow[[source]].toarray()[0]
    return np.asarray(entered[entry], np.int64)
