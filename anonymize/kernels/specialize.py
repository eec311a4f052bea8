"""Top-down specialization on counts: the loop of TDS4SA.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, Algorithm 1 and sections 5.2 to 5.4.

A partition is a run of rows in `order`; `link_head` and `link_next` are the paper's Link[v]. Whatever is
required of the join, a value x on X is as safe as a number says, the larger the safer, and the release is as
safe as its least safe value: the number of distinct values of Y, or k - l for the linkability l.
"""

from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.kernels.compiled import compiled, int64, uint64
from republish.anonymize.rounding import FEW_STEPS

ANONYMITY, LINKABILITY = 0, 1
ONE, KEY, CODE = 0, 1, 2
"""What Y is in the view: nothing, a key of its rows, or codes with repetitions."""
CLASS, DISTORTION, DISCERNIBILITY = 0, 1, 2
SCALE = 2.0**448
"""What a multiplicity is a number below, times a power of it: products over any number of releases fit, and
so do sums over all rows."""

# Only the loop itself is called from Python: without wrappers, its parts compile in a fraction of the time.
_part = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")


class Rows(NamedTuple):
    """Distinct rows of the view, sorted so that equal values of Y are neighbours."""

    codes: Ints
    """int32[n, A]: the value of each column of X."""
    weight: Ints
    """int64[n]: records."""
    y: Ints
    """int32[n]: value on Y."""
    history: Ints
    """int32[n]: values of the join attributes that X lacks."""
    items: Ints
    """int32[n, Q]: sensitive value in each column of Y, -1 for none."""


class Nodes(NamedTuple):
    """Nodes of all taxonomies; the children of a node are `first`, `first + 1`, …."""

    axis: Ints
    """int32: the column."""
    first: Ints
    """int32: the first child."""
    children: Ints
    """int32: how many there are."""
    lo: Ints
    """int32: the first code covered."""
    hi: Ints
    """int32: the code after the last one."""
    low: Floats
    """float64: where the published interval begins."""
    high: Floats
    """float64: where it ends, half-open."""
    flags: Words
    """uint64: the inconsistent pairs that a node is one half of."""
    route: Ints
    """int32: where its row in `Axes.routes` begins; -1 where a node is split by a point."""


class Axes(NamedTuple):
    """The columns of X in the view."""

    roots: Ints
    """int32: root node."""
    forced: Bools
    """bool: published as it is."""
    numeric: Bools
    """bool: split at points."""
    discrete: Bools
    """bool: whole numbers."""
    joins: Bools
    """bool: a join attribute."""
    values: Floats
    """float64: the values of axis a's codes from `at[a]` on."""
    tallies: Ints
    """int64[., classes]: records with smaller codes by class, from `at[a]` on."""
    at: Ints
    """int64."""
    width: Floats
    """float64: the domain's."""
    routes: Ints
    """int32: which child covers each code of a node."""


class Groups(NamedTuple):
    """Join keys of earlier releases whose join attributes are all in X, release after release."""

    start: Ints
    """int64: those of release r are start[r] … start[r + 1] - 1, the least safe first."""
    low: Floats
    """float64[g, A]."""
    high: Floats
    """float64[g, A]."""
    flags: Words
    """uint64[g]."""
    safety: Floats
    """float64[g]: of the least safe value on X."""


class Cells(NamedTuple):
    """Partitions of earlier releases with join attributes that X lacks."""

    start: Ints
    """int64: those that match history h are listed[start[h]:start[h + 1]]."""
    listed: Ints
    """int32."""
    low: Floats
    """float64[c, V]: of the join attributes in X."""
    high: Floats
    """float64[c, V]."""
    flags: Words
    """uint64[c]."""
    x: Ints
    """int32[c]: value on X."""
    stamp: Ints
    """int32[c]: value on (X, Y)."""
    rows: Floats
    """float64[c]: records, or what a value on Y counts; of several releases the product. The whole of it is
    (rows + rest) · SCALE ** shift."""
    rest: Floats
    """float64[c]: what rounding left of `rows`, 0 up to 2 ** 53."""
    shift: Ints
    """int32[c]: how often it was divided by SCALE."""
    items: Ints
    """int32[c, Q]: sensitive values, -1 for none."""
    bound: Ints
    """int32[V]: the axis of each join attribute."""


class Demand(NamedTuple):
    """The requirement."""

    kind: int
    """ANONYMITY or LINKABILITY."""
    view_y: int
    """ONE, KEY or CODE."""
    by_history: bool
    """Whether values on Y are counted within histories (cases 2 to 4)."""
    limits: Floats
    """float64: k of each sensitive value."""
    needed: float
    """The least safety there may be."""
    information: int
    """CLASS, DISTORTION or DISCERNIBILITY."""
    prunes: bool
    """Whether a candidate that is not valid never will be."""
    linked: int
    """How many sensitive values there are."""


class Given(NamedTuple):
    """All that specialization starts from."""

    rows: Rows
    nodes: Nodes
    axes: Axes
    groups: Groups
    cells: Cells
    demand: Demand


class Work(NamedTuple):
    """P partitions, with their nodes and links, and what is known of V nodes, of A columns."""

    order: Ints
    """int32[n]: the rows, partition after partition."""
    buffer: Ints
    """int32[n]: a partition's rows, child after child."""
    start: Ints
    """int64[P]: partition p is `order[start[p]:stop[p]]`."""
    stop: Ints
    """int64[P]."""
    node: Ints
    """int32[P, A]: the node of each column's cut that a partition is under."""
    link_next: Ints
    """int32[P, A]: the next partition under the same node; -1 for none."""
    link_head: Ints
    """int32[V]: the first partition under a node; -1 for none."""
    value: Floats
    """float64[P]: safety."""
    whole: Bools
    """bool[P]: all of the rows went to one child when the partition was last split."""
    spread: Floats
    """float64[P, A]: what the partition adds to the gain of its nodes; for discernibility."""
    after: Floats
    """float64[P, A]: safety once a node is specialized; where a candidate may become valid again."""
    in_cut: Bools
    """bool[V]: a node of the cuts."""
    is_open: Bools
    """bool[V]: a candidate."""
    gain: Floats
    """float64[V]."""
    safe_after: Floats
    """float64[V]: safety of the release once a candidate is specialized, as far as it is known."""
    opened: Ints
    """int32[V]: the candidates."""


class Room(NamedTuple):
    """Space to count in: zeros wherever a function finds or leaves it."""

    children: Ints
    place: Ints
    begin: Ints
    touched: Ints
    x_count: Floats
    x_shift: Ints
    x_touched: Ints
    stamp: Ints
    run: Ints
    item_count: Ints
    by_item: Floats
    now: Ints


def make_work(given: Given) -> Work:
    """The view as one partition, and what is known of the nodes, before anything is specialized."""
    (n, width), v, demand = given.rows.codes.shape, len(given.nodes.axis), given.demand
    return Work(
        order=np.arange(n, dtype=np.int32),
        buffer=np.empty(n, np.int32),
        start=np.zeros(n, np.int64),
        stop=np.zeros(n, np.int64),
        node=np.zeros((n, width), np.int32),
        link_next=np.full((n, width), -1, np.int32),
        link_head=np.full(v, -1, np.int32),
        value=np.full(n, np.inf),
        whole=np.zeros(n, np.bool_),
        spread=np.zeros((n if demand.information == DISCERNIBILITY else 1, width)),
        after=np.full((1 if demand.prunes else n, width), np.inf),
        in_cut=np.zeros(v, np.bool_),
        is_open=np.zeros(v, np.bool_),
        gain=np.zeros(v),
        safe_after=np.full(v, np.inf),
        opened=np.zeros(v, np.int32),
    )


def make_room(given: Given, used: int) -> Room:
    """Room for a view of which `used` nodes are made."""
    children = max(2, int(given.nodes.children[:used].max(initial=2)))
    cells, demand = given.cells, given.demand
    values, stamps = int(cells.x.max(initial=-1)) + 1, int(cells.stamp.max(initial=-1)) + 1
    return Room(
        children=np.zeros(children, np.int64),
        place=np.zeros(children, np.int64),
        begin=np.zeros(children + 1, np.int64),
        touched=np.zeros(children, np.int64),
        x_count=np.zeros((values, 2)),
        x_shift=np.zeros(values, np.int32),
        x_touched=np.zeros(values, np.int64),
        stamp=np.zeros(stamps, np.int64),
        run=np.zeros(1, np.int64),
        item_count=np.zeros(demand.linked, np.int64),
        by_item=np.zeros((values if demand.kind == LINKABILITY else 0, demand.linked, 2)),
        now=np.zeros(given.rows.codes.shape[1], np.int32),
    )


@compiled()
def specialize(given: Given, used: int, work: Work, room: Room, limit: int) -> tuple[float, float, int, int]:
    """Specialize the most general view until no valid candidate is left, or `limit` times.

    Rows are sorted so that distinct values of Y are counted in runs. Nodes after those that are used are made
    here, and those of the cuts marked in `work.in_cut`.

    Returns
    -------
    most_general, safety : float
        Safety of the most general view, and of this one.
    done : int
        Specializations performed.
    partitions : int
        How many there are: runs of `work.order`, by `start` and `stop`, `value` the safety of each.
    """
    done = int64(0)
    if len(work.order) == 0:
        return np.inf, np.inf, done, int64(0)
    prunes, needed = given.demand.prunes, given.demand.needed
    partitions = _begin(given, work, room)
    current = _least(work.value, partitions)
    most_general = current
    if current < needed:
        return most_general, current, done, partitions
    used, candidates = _first_candidates(used, partitions, given, work, room)
    while done < limit:
        if not prunes:
            _look_again(partitions, candidates, work)
        winner, candidates = _best(current, candidates, given.demand, work)
        if winner < 0:
            break
        if given.demand.information == DISCERNIBILITY:
            _take_back(winner, given.nodes, work)
        a = int64(given.nodes.axis[winner])
        partitions = _split(winner, a, partitions, given, work, room)
        for child in _children(winner, given.nodes):
            used, candidates = _open(int64(child), used, candidates, given, work)
        of_children = _assess_children(winner, a, given, work, room)
        current = min(current, of_children) if prunes else _least(work.value, partitions)
        done += 1
    return most_general, current, done, partitions


@_part
def _begin(given: Given, work: Work, room: Room) -> int:
    """Put all rows under the roots, and specialize what is published as it is; the number of partitions."""
    partitions, work.stop[0] = int64(1), len(work.order)
    roots, forced = given.axes.roots, given.axes.forced
    for a in range(len(roots)):
        work.node[0, a] = roots[a]
        work.link_head[roots[a]] = 0
        work.in_cut[roots[a]] = True
    for a in range(len(roots)):
        if forced[a]:
            partitions = _split(int64(roots[a]), int64(a), partitions, given, work, room)
    for p in range(partitions):
        work.value[p] = _safety(work.order, work.start[p], work.stop[p], work.node[p], given, room)
    return partitions


@_part
def _first_candidates(used: int, partitions: int, given: Given, work: Work, room: Room) -> tuple[int, int]:
    """Make candidates of the roots; the number of nodes, and of candidates."""
    candidates = int64(0)
    for a in range(len(given.axes.roots)):
        if not given.axes.forced[a]:
            used, candidates = _open(int64(given.axes.roots[a]), used, candidates, given, work)
    for p in range(partitions):
        for a in range(len(given.axes.roots)):
            if work.is_open[work.node[p, a]]:
                _assess(int64(p), int64(a), given, work, room)
    return used, candidates


@_part
def _best(current: float, candidates: int, demand: Demand, work: Work) -> tuple[int, int]:
    """The valid candidate with the highest score, -1 if there is none, and the number of the others left."""
    winner, best, left = int64(-1), -1.0, int64(0)
    for c in range(candidates):
        v = int64(work.opened[c])
        safe = min(work.safe_after[v], current) if demand.prunes else work.safe_after[v]
        if safe < demand.needed and demand.prunes:  # it stays invalid (Corollary 4.1)
            work.is_open[v] = False
            continue
        work.opened[left] = v
        left += 1
        # Of infinities there is no difference: products over many releases may be beyond float64.
        lost = current - safe if safe < current else 0.0
        score = work.gain[v] / (lost + 1.0)
        if safe >= demand.needed and (score > best or (score == best and v < winner)):
            winner, best = v, score
    if winner >= 0:
        work.is_open[winner] = False
        for c in range(left):
            if work.opened[c] == winner:
                left -= 1
                work.opened[c] = work.opened[left]
                break
    return winner, left


@_part
def _take_back(v: int, nodes: Nodes, work: Work) -> None:
    """Take what the partitions of a node added to the gain of other nodes back: it is counted anew."""
    p = int64(work.link_head[v])
    while p >= 0:
        for b in range(work.node.shape[1]):
            if work.is_open[work.node[p, b]]:
                work.gain[work.node[p, b]] -= work.spread[p, b]
        p = int64(work.link_next[p, nodes.axis[v]])


@_part
def _assess_children(v: int, a: int, given: Given, work: Work, room: Room) -> float:
    """Count safety and gain of all partitions of a node's children; the safety of the least safe one."""
    least = np.inf
    for child in _children(v, given.nodes):
        p = int64(work.link_head[child])
        while p >= 0:
            work.value[p] = _safety(work.order, work.start[p], work.stop[p], work.node[p], given, room)
            least = min(least, work.value[p])
            # A partition whose records all went to one child is what it was, but for the winner's column.
            as_before = (
                work.whole[p] and not given.axes.joins[a] and given.demand.information != DISCERNIBILITY
            )
            for b in range(work.node.shape[1]):
                if work.is_open[work.node[p, b]] and (b == a or not as_before):
                    _assess(p, int64(b), given, work, room)
            p = int64(work.link_next[p, a])
    return least


@_part
def _children(v: int, nodes: Nodes) -> range:
    return range(nodes.first[v], nodes.first[v] + nodes.children[v])


@_part
def _child(v: int, code: int, nodes: Nodes, axes: Axes) -> int:
    """Number the one of a node's children that covers a code."""
    if nodes.route[v] >= 0:
        return int64(axes.routes[nodes.route[v] + code - nodes.lo[v]])
    return int64(code >= nodes.lo[nodes.first[v] + 1])


@_part
def _by_child(begin: int, end: int, v: int, given: Given, work: Work, room: Room) -> int:
    """Write rows begin … end into the buffer, child by child from `room.begin` on; how many have any."""
    rows, nodes, axes = given.rows, given.nodes, given.axes
    a = int64(nodes.axis[v])
    found = int64(0)
    for i in range(begin, end):
        c = _child(v, rows.codes[work.order[i], a], nodes, axes)
        if room.children[c] == 0:
            room.touched[found] = c
            found += 1
        room.children[c] += 1
    at = begin
    for k in range(found):
        c = room.touched[k]
        room.begin[k] = at
        room.place[c] = at
        at += room.children[c]
        room.children[c] = 0
    room.begin[found] = end
    for i in range(begin, end):
        c = _child(v, rows.codes[work.order[i], a], nodes, axes)
        work.buffer[room.place[c]] = work.order[i]
        room.place[c] += 1
    return found


@_part
def _split(v: int, a: int, partitions: int, given: Given, work: Work, room: Room) -> int:
    """Specialize a node in every partition on its link; the number of partitions afterwards."""
    nodes = given.nodes
    p = int64(work.link_head[v])
    work.link_head[v] = -1
    work.in_cut[v] = False
    for child in _children(v, nodes):
        work.in_cut[child] = True
    while p >= 0:
        following = int64(work.link_next[p, a])
        begin, end = work.start[p], work.stop[p]
        found = _by_child(begin, end, v, given, work, room)
        for i in range(begin, end):
            work.order[i] = work.buffer[i]
        work.whole[p] = found == 1
        for k in range(found):
            slot = p
            if k:
                slot = partitions
                partitions += 1
                work.whole[slot] = False
                for b in range(work.node.shape[1]):
                    work.node[slot, b] = work.node[p, b]
                    if b != a:
                        _link(slot, b, work.node[p, b], work)
            work.start[slot], work.stop[slot] = room.begin[k], room.begin[k + 1]
            child = nodes.first[v] + room.touched[k]
            work.node[slot, a] = child
            _link(slot, a, child, work)
        p = following
    return partitions


@_part
def _link(p: int, a: int, v: int, work: Work) -> None:
    """Put a partition at the head of a node's link."""
    work.link_next[p, a] = work.link_head[v]
    work.link_head[v] = p


@_part
def _assess(p: int, a: int, given: Given, work: Work, room: Room) -> None:
    """Count what specializing a partition's node of column a would leave, and gain, in this partition."""
    v = int64(work.node[p, a])
    found = _by_child(work.start[p], work.stop[p], v, given, work, room)
    safe = np.inf
    if found == 1 and not given.axes.joins[a]:
        safe = work.value[p]
    else:
        for b in range(work.node.shape[1]):
            room.now[b] = work.node[p, b]
        for k in range(found):
            room.now[a] = given.nodes.first[v] + room.touched[k]
            safe = min(safe, _safety(work.buffer, room.begin[k], room.begin[k + 1], room.now, given, room))
    work.safe_after[v] = min(work.safe_after[v], safe)
    if not given.demand.prunes:
        work.after[p, a] = safe
    if given.demand.information == DISCERNIBILITY:
        apart, together = 0.0, 0.0
        for k in range(found):
            records = 0
            for i in range(room.begin[k], room.begin[k + 1]):
                records += given.rows.weight[work.buffer[i]]
            together += records
            apart += float(records) * records
        work.spread[p, a] = together * together - apart
        work.gain[v] += work.spread[p, a]


@_part
def _look_again(partitions: int, candidates: int, work: Work) -> None:
    """Safety after each candidate, counted over all partitions: for joins that may drop values."""
    node, width = work.node, work.node.shape[1]
    own = np.full(len(work.is_open), np.inf)
    for p in range(partitions):
        for a in range(width):
            own[node[p, a]] = min(own[node[p, a]], work.value[p])
    # For each column the node with the least safety, and the least safety of all other nodes.
    least, second, least_node = np.full(width, np.inf), np.full(width, np.inf), np.full(width, -1)
    for p in range(partitions):
        for a in range(width):
            v = node[p, a]
            if least_node[a] == v:
                continue
            if own[v] < least[a]:
                least[a], second[a], least_node[a] = own[v], least[a], v
            elif own[v] < second[a]:
                second[a] = own[v]
    for c in range(candidates):
        v = work.opened[c]
        work.safe_after[v] = np.inf
        p = work.link_head[v]
        a = -1
        while p >= 0:
            if a < 0:
                a = 0
                while node[p, a] != v:
                    a += 1
            work.safe_after[v] = min(work.safe_after[v], work.after[p, a])
            p = work.link_next[p, a]
        if a >= 0:
            work.safe_after[v] = min(work.safe_after[v], second[a] if least_node[a] == v else least[a])


@_part
def _open(v: int, used: int, candidates: int, given: Given, work: Work) -> tuple[int, int]:
    """Make a node a candidate if it can be specialized; the number of nodes and of candidates afterwards."""
    nodes, axes, information = given.nodes, given.axes, given.demand.information
    a = int64(nodes.axis[v])
    lo, hi = int64(nodes.lo[v]), int64(nodes.hi[v])
    if axes.numeric[a]:
        if hi - lo < 2:
            return used, candidates
        best, s = _best_point(v, nodes, axes, information)
        _cut_at(v, s, used, nodes, axes)
        used += 2
        work.gain[v] = 0.0 if information == DISCERNIBILITY else best
    else:
        records = _records(axes, a, lo, hi)
        # A node that no record has is left as it is: to specialize it says nothing.
        if nodes.children[v] == 0 or records == 0:
            return used, candidates
        if information == CLASS:
            gain = _entropy(axes, a, lo, hi)
            for child in _children(v, nodes):
                low, high = int64(nodes.lo[child]), int64(nodes.hi[child])
                gain -= _records(axes, a, low, high) / records * _entropy(axes, a, low, high)
            work.gain[v] = max(gain, 0.0)
        elif information == DISTORTION:
            work.gain[v] = records
    work.is_open[v] = True
    work.opened[candidates] = v
    return used, candidates + 1


@_part
def _cut_at(v: int, s: int, first: int, nodes: Nodes, axes: Axes) -> None:
    """Give a node of numbers two children, of codes below `s` and from `s` on."""
    a = int64(nodes.axis[v])
    below, above = axes.values[axes.at[a] + s - 1], axes.values[axes.at[a] + s]
    point = (below + above) / 2
    if axes.discrete[a]:
        point = np.ceil(point)
    elif point <= below:
        point = above
    nodes.first[v], nodes.children[v] = first, 2
    for k in range(2):
        child = first + k
        nodes.axis[child], nodes.first[child], nodes.children[child] = a, 0, 0
        nodes.route[child], nodes.flags[child] = -1, np.uint64(0)
        nodes.lo[child], nodes.hi[child] = (nodes.lo[v], s) if k == 0 else (s, nodes.hi[v])
        nodes.low[child] = nodes.low[v] if k == 0 else point
        nodes.high[child] = point if k == 0 else nodes.high[v]


@_part
def _best_point(v: int, nodes: Nodes, axes: Axes, information: int) -> tuple[float, int]:
    """Gain of the best binary split, and its upper half's first code; of equals, the most even one."""
    a = int64(nodes.axis[v])
    lo, hi = int64(nodes.lo[v]), int64(nodes.hi[v])
    tallies = axes.tallies
    at = axes.at[a]
    records = _records(axes, a, lo, hi)
    whole = _entropy(axes, a, lo, hi) if information == CLASS else 0.0
    best, best_s, best_even = -np.inf, lo + 1, np.inf
    for s in range(lo + 1, hi):
        below = 0
        for c in range(tallies.shape[1]):
            below += tallies[at + s, c] - tallies[at + lo, c]
        above = records - below
        if information == CLASS:
            gained = (
                whole
                - below / records * _entropy(axes, a, lo, s)
                - above / records * _entropy(axes, a, s, hi)
            )
            gained = max(gained, 0.0)
        elif information == DISTORTION:
            point = (axes.values[at + s - 1] + axes.values[at + s]) / 2
            gained = (
                records * (nodes.high[v] - nodes.low[v])
                - below * (point - nodes.low[v])
                - above * (nodes.high[v] - point)
            ) / axes.width[a]
        else:
            gained = 2.0 * below * above
        even = abs(above - below)
        if gained > best + FEW_STEPS or (gained > best - FEW_STEPS and even < best_even):
            best, best_s, best_even = max(gained, best), s, even
    return best, best_s


@_part
def _records(axes: Axes, a: int, lo: int, hi: int) -> int:
    """The records with codes lo … hi - 1."""
    records = int64(0)
    for c in range(axes.tallies.shape[1]):
        records += axes.tallies[axes.at[a] + hi, c] - axes.tallies[axes.at[a] + lo, c]
    return records


@_part
def _least(values: Floats, length: int) -> float:
    """The least of the first values; infinity of none."""
    least = np.inf
    for i in range(length):
        least = min(least, values[i])
    return least


@_part
def _entropy(axes: Axes, a: int, lo: int, hi: int) -> float:
    """Entropy, in bits, of the class among the records with codes lo … hi - 1."""
    at = axes.at[a]
    records = _records(axes, a, lo, hi)
    entropy = 0.0
    for c in range(axes.tallies.shape[1]):
        part = axes.tallies[at + hi, c] - axes.tallies[at + lo, c]
        if part > 0:
            entropy -= part / records * np.log2(part / records)
    return entropy


@_part
def _safety(order: Ints, begin: int, end: int, now: Ints, given: Given, room: Room) -> float:
    """Safety of the values on X that rows order[begin:end] are part of in the join, under the nodes `now`."""
    if given.demand.kind == ANONYMITY:
        if len(given.cells.start) > 1:
            least = _least_linked(order, begin, end, now, given, room)
        else:
            least = float(_distinct(order, begin, end, given.rows, given.demand))
        return least * _group_safety(now, given.nodes, given.groups, True)
    if len(given.cells.start) > 1:
        least = _least_margin(order, begin, end, now, given, room)
    else:
        least = _margin(order, begin, end, given.rows, given.demand, room)
    return min(least, _group_safety(now, given.nodes, given.groups, False))


@_part
def _distinct(order: Ints, begin: int, end: int, rows: Rows, demand: Demand) -> int:
    """Distinct values of Y among rows that are sorted by it (section 5.4, case 1)."""
    if demand.view_y == ONE:
        return 1
    count = 0
    if demand.view_y == KEY:
        for i in range(begin, end):
            count += rows.weight[order[i]]
        return count
    for i in range(begin, end):
        count += i == begin or rows.y[order[i]] != rows.y[order[i - 1]]
    return count


@_part
def _margin(order: Ints, begin: int, end: int, rows: Rows, demand: Demand, room: Room) -> float:
    """The least k - l over the sensitive values in the view."""
    margin = _least(demand.limits, len(demand.limits))
    if rows.items.shape[1] == 0:
        return margin
    records = _count_items(order, begin, end, rows, room)
    for i in range(begin, end):
        for q in range(rows.items.shape[1]):
            item = rows.items[order[i], q]
            if item >= 0 and room.item_count[item] > 0:
                margin = min(margin, demand.limits[item] - room.item_count[item] / records)
                room.item_count[item] = 0
    return margin


@compiled(inline="always")
def _count_items(order: Ints, begin: int, end: int, rows: Rows, room: Room) -> int:
    """Count the sensitive values of rows in `room.item_count`; the number of their records."""
    records = 0
    for i in range(begin, end):
        row = order[i]
        records += rows.weight[row]
        for q in range(rows.items.shape[1]):
            if rows.items[row, q] >= 0:
                room.item_count[rows.items[row, q]] += rows.weight[row]
    return records


@_part
def _group_safety(now: Ints, nodes: Nodes, groups: Groups, multiply: bool) -> float:
    """Safety that earlier releases with all join attributes in X contribute: that of the least safe match."""
    if len(groups.start) == 1:
        return 1.0 if multiply else np.inf
    flags = _flags(now, nodes)
    safety = 1.0 if multiply else np.inf
    for r in range(len(groups.start) - 1):
        found = np.inf  # no match: not in the join
        for g in range(groups.start[r], groups.start[r + 1]):
            if flags & groups.flags[g]:
                continue
            overlap = True
            for a in range(len(now)):
                if nodes.low[now[a]] >= groups.high[g, a] or groups.low[g, a] >= nodes.high[now[a]]:
                    overlap = False
                    break
            if overlap:
                found = groups.safety[g]
                break
        safety = safety * found if multiply else min(safety, found)
    return safety


@compiled(inline="always")
def _flags(now: Ints, nodes: Nodes) -> int:
    """The inconsistent pairs that the nodes of the columns of X are one half of."""
    flags = uint64(0)
    for a in range(len(now)):
        flags |= nodes.flags[now[a]]
    return flags


@_part
def _reaches(c: int, now: Ints, flags: int, nodes: Nodes, cells: Cells) -> bool:
    """Whether a cell matches the nodes of the columns of X."""
    if flags & cells.flags[c]:
        return False
    for j in range(len(cells.bound)):
        v = now[cells.bound[j]]
        if nodes.low[v] >= cells.high[c, j] or cells.low[c, j] >= nodes.high[v]:
            return False
    return True


@_part
def _least_linked(order: Ints, begin: int, end: int, now: Ints, given: Given, room: Room) -> float:
    """The least number of distinct values of Y over the values on X that the rows are joined to.

    A value of Y counts once in a run: the rows of a history where these can't share one (cases 2 to 4 of
    section 5.4), else the rows with the same value of Y in the view.
    """
    rows, nodes, cells, demand = given.rows, given.nodes, given.cells, given.demand
    flags = _flags(now, nodes)
    found = 0
    i = begin
    run_y = -1
    while i < end:
        history, y, weight = rows.history[order[i]], rows.y[order[i]], 0
        if demand.view_y == KEY or demand.by_history:
            last = -1
            while i < end and rows.history[order[i]] == history:
                if demand.view_y == KEY:
                    weight += rows.weight[order[i]]
                elif demand.view_y == CODE:
                    weight += rows.y[order[i]] != last
                    last = rows.y[order[i]]
                else:
                    weight = 1
                i += 1
            room.run[0] += 1
        else:
            weight = 1
            while i < end and rows.history[order[i]] == history and rows.y[order[i]] == y:
                i += 1
            if y != run_y:
                room.run[0] += 1
                run_y = y
        for at in range(cells.start[history], cells.start[history + 1]):
            c = cells.listed[at]
            if room.stamp[cells.stamp[c]] == room.run[0] or not _reaches(c, now, flags, nodes, cells):
                continue
            room.stamp[cells.stamp[c]] = room.run[0]
            x = cells.x[c]
            if room.x_count[x, 0] == 0:
                room.x_touched[found] = x
                found += 1
            room.x_count[x, 0] += weight * cells.rows[c] * (SCALE if cells.shift[c] else 1.0)
    least = np.inf
    for k in range(found):
        least = min(least, room.x_count[room.x_touched[k], 0])
        room.x_count[room.x_touched[k], 0] = 0
    return least


@_part
def _least_margin(order: Ints, begin: int, end: int, now: Ints, given: Given, room: Room) -> float:
    """The least k - l over sensitive values, and values on X that the rows are joined to (section 5.3)."""
    rows, nodes, cells, demand = given.rows, given.nodes, given.cells, given.demand
    flags = _flags(now, nodes)
    found = 0
    i = begin
    while i < end:
        history, first = rows.history[order[i]], i
        while i < end and rows.history[order[i]] == history:
            i += 1
        records = _count_items(order, first, i, rows, room)
        for at in range(cells.start[history], cells.start[history + 1]):
            c = cells.listed[at]
            if not _reaches(c, now, flags, nodes, cells):
                continue
            x = cells.x[c]
            if room.x_count[x, 0] == 0:
                room.x_touched[found] = x
                room.x_shift[x] = cells.shift[c]
                found += 1
            by = _on_one_scale(x, cells.shift[c], room)
            _add(room.x_count[x], records * by, cells, c)
            for item in range(demand.linked):
                if room.item_count[item]:
                    _add(room.by_item[x, item], room.item_count[item] * by, cells, c)
            for q in range(cells.items.shape[1]):
                if cells.items[c, q] >= 0:
                    _add(room.by_item[x, cells.items[c, q]], records * by, cells, c)
        for k in range(first, i):
            for q in range(rows.items.shape[1]):
                if rows.items[order[k], q] >= 0:
                    room.item_count[rows.items[order[k], q]] = 0
    margin = _least(demand.limits, len(demand.limits)) if found else np.inf
    for k in range(found):
        x = room.x_touched[k]
        for item in range(demand.linked):
            if room.by_item[x, item, 0] > 0:
                margin = min(margin, demand.limits[item] - _quotient(room.by_item[x, item], room.x_count[x]))
                room.by_item[x, item, 0], room.by_item[x, item, 1] = 0.0, 0.0
        room.x_count[x, 0], room.x_count[x, 1] = 0.0, 0.0
    return margin


@compiled()
def multiplied(first: Cells, one: Ints, second: Cells, other: Ints) -> tuple[Floats, Floats, Ints]:
    """The `rows`, `rest` and `shift` of combined cells: `one[i]` of the first, `other[i]` of the second.

    The relative error of each product is below 2 ** -100.
    """
    rows, rest, shift = np.empty(len(one)), np.empty(len(one)), np.empty(len(one), np.int32)
    for i in range(len(one)):
        a, b = first.rows[one[i]], second.rows[other[i]]
        product = a * b
        left = _rounded_off(a, b, product) + (a * second.rest[other[i]] + first.rest[one[i]] * b)
        by = 1 / SCALE if product >= SCALE else 1.0
        rows[i] = (product + left) * by
        rest[i] = (left - ((product + left) - product)) * by
        shift[i] = first.shift[one[i]] + second.shift[other[i]] + (product >= SCALE)
    return rows, rest, shift


@_part
def _rounded_off(a: float, b: float, product: float) -> float:
    """The part that rounding took from a product, exactly (Dekker)."""
    high_a, high_b = 134217729.0 * a, 134217729.0 * b
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@_part
def _on_one_scale(x: int, shift: int, room: Room) -> float:
    """Bring what was counted of a value on X to the scale of a cell if that is larger; else the cell to its.

    More than one power of SCALE apart, the smaller of two numbers is less than rounding would leave of it.
    """
    apart = shift - room.x_shift[x]
    by = 1.0 if apart == 0 else 1 / SCALE if abs(apart) == 1 else 0.0
    if apart <= 0:
        return by
    room.x_shift[x] = shift
    for part in range(2):
        room.x_count[x, part] *= by
        for item in range(room.by_item.shape[1]):
            room.by_item[x, item, part] *= by
    return 1.0


@_part
def _add(total: Floats, times: float, cells: Cells, c: int) -> None:
    """Add so many times a cell's multiplicity to a sum of two parts: what it is, and what rounding left."""
    rows = times * cells.rows[c]
    rest = _rounded_off(times, cells.rows[c], rows) + times * cells.rest[c]
    added = total[0] + rows
    part = added - total[0]
    rest += total[1] + ((total[0] - (added - part)) + (rows - part))
    total[0] = added + rest
    total[1] = rest - (total[0] - added)


@_part
def _quotient(part: Floats, whole: Floats) -> float:
    """Part of whole, rounded once: so that 3 of 5 are no more than 0.6, however large the two are."""
    quotient: float = part[0] / whole[0]
    if part[1] == 0 and whole[1] == 0:
        return quotient
    product = quotient * whole[0]
    left = ((part[0] - product) - _rounded_off(quotient, whole[0], product)) + (part[1] - quotient * whole[1])
    exact: float = quotient + left / whole[0]
    return exact
