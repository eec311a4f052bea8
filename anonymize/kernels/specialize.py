"""Top-down specialization on counts: the loop of TDS4SA.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, Algorithm 1 and sections 5.2 to 5.4.

A partition is a run of rows in `order`; `link_head` and `link_next` are the paper's Link[v]. Whatever is
required of the join, a value x on X is as safe as a number says, the larger the safer, and the release is as
safe as its least safe value: the number of distinct values of Y, or k - l for the linkability l.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

ANONYMITY, LINKABILITY = 0, 1
ONE, KEY, CODE = 0, 1, 2
"""What Y is in the view: nothing, a key of its rows, or codes with repetitions."""
CLASS, DISTORTION, DISCERNIBILITY = 0, 1, 2

# Only the loop itself is called from Python: without wrappers, its parts compile in a fraction of the time.
_part = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")


class Rows(NamedTuple):
    """Distinct rows of the view, sorted so that equal values of Y are neighbours."""

    codes: np.ndarray
    """int32[n, A]: the value of each column of X."""
    weight: np.ndarray
    """int64[n]: records."""
    y: np.ndarray
    """int32[n]: value on Y."""
    history: np.ndarray
    """int32[n]: values of the join attributes that X lacks."""
    items: np.ndarray
    """int32[n, Q]: sensitive value in each column of Y, -1 for none."""


class Nodes(NamedTuple):
    """Nodes of all taxonomies; the children of a node are `first`, `first + 1`, …."""

    axis: np.ndarray
    """int32: the column."""
    first: np.ndarray
    """int32: the first child."""
    children: np.ndarray
    """int32: how many there are."""
    lo: np.ndarray
    """int32: the first code covered."""
    hi: np.ndarray
    """int32: the code after the last one."""
    low: np.ndarray
    """float64: where the published interval begins."""
    high: np.ndarray
    """float64: where it ends, half-open."""
    flags: np.ndarray
    """uint64: the inconsistent pairs that a node is one half of."""
    route: np.ndarray
    """int32: where its row in `Axes.routes` begins; -1 where a node is split by a point."""


class Axes(NamedTuple):
    """The columns of X in the view."""

    roots: np.ndarray
    """int32: root node."""
    forced: np.ndarray
    """bool: published as it is."""
    numeric: np.ndarray
    """bool: split at points."""
    discrete: np.ndarray
    """bool: whole numbers."""
    joins: np.ndarray
    """bool: a join attribute."""
    values: np.ndarray
    """float64: the values of axis a's codes from `at[a]` on."""
    tallies: np.ndarray
    """int64[., classes]: records with smaller codes by class, from `at[a]` on."""
    at: np.ndarray
    """int64."""
    width: np.ndarray
    """float64: the domain's."""
    routes: np.ndarray
    """int32: which child covers each code of a node."""


class Groups(NamedTuple):
    """Join keys of earlier releases whose join attributes are all in X, release after release."""

    start: np.ndarray
    """int64: those of release r are start[r] … start[r + 1] - 1, the least safe first."""
    low: np.ndarray
    """float64[g, A]."""
    high: np.ndarray
    """float64[g, A]."""
    flags: np.ndarray
    """uint64[g]."""
    safety: np.ndarray
    """float64[g]: of the least safe value on X."""


class Cells(NamedTuple):
    """Partitions of earlier releases with join attributes that X lacks."""

    start: np.ndarray
    """int64: those that match history h are listed[start[h]:start[h + 1]]."""
    listed: np.ndarray
    """int32."""
    low: np.ndarray
    """float64[c, V]: of the join attributes in X."""
    high: np.ndarray
    """float64[c, V]."""
    flags: np.ndarray
    """uint64[c]."""
    x: np.ndarray
    """int32[c]: value on X."""
    stamp: np.ndarray
    """int32[c]: value on (X, Y)."""
    rows: np.ndarray
    """int64[c]: records, or what a value on Y counts."""
    items: np.ndarray
    """int32[c, Q]: sensitive values, -1 for none."""
    bound: np.ndarray
    """int32[V]: the axis of each join attribute."""
    names: np.ndarray
    """int32[2]: how many x and stamps there are."""


class Demand(NamedTuple):
    """What is required."""

    kind: int
    """ANONYMITY or LINKABILITY."""
    view_y: int
    """ONE, KEY or CODE."""
    by_history: bool
    """Whether values on Y are counted within histories (cases 2 to 4)."""
    limits: np.ndarray
    """float64: k of each sensitive value."""
    needed: float
    """The least safety there may be."""
    information: int
    """CLASS, DISTORTION or DISCERNIBILITY."""
    prunes: bool
    """Whether a candidate that is not valid never will be."""
    linked: int
    """How many sensitive values there are."""


class Work(NamedTuple):
    """Partitions, with their nodes and links, and what is known of nodes."""

    start: np.ndarray
    stop: np.ndarray
    node: np.ndarray
    link_next: np.ndarray
    link_head: np.ndarray
    value: np.ndarray
    whole: np.ndarray
    spread: np.ndarray
    after: np.ndarray
    in_cut: np.ndarray
    is_open: np.ndarray
    gain: np.ndarray
    safe_after: np.ndarray
    opened: np.ndarray


class Room(NamedTuple):
    """Space to count in."""

    children: np.ndarray
    place: np.ndarray
    begin: np.ndarray
    touched: np.ndarray
    x_count: np.ndarray
    x_touched: np.ndarray
    stamp: np.ndarray
    run: np.ndarray
    item_count: np.ndarray
    by_item: np.ndarray
    now: np.ndarray


def make_work(rows, nodes, demand):
    """The view as one partition, and what is known of the nodes, before anything is specialized."""
    n, width = rows.codes.shape
    return Work(
        start=np.zeros(n, np.int64),
        stop=np.zeros(n, np.int64),
        node=np.zeros((n, width), np.int32),
        link_next=np.full((n, width), -1, np.int32),
        link_head=np.full(len(nodes.axis), -1, np.int32),
        value=np.full(n, np.inf),
        whole=np.zeros(n, np.bool_),
        spread=np.zeros((n if demand.information == DISCERNIBILITY else 1, width)),
        after=np.full((1 if demand.prunes else n, width), np.inf),
        in_cut=np.zeros(len(nodes.axis), np.bool_),
        is_open=np.zeros(len(nodes.axis), np.bool_),
        gain=np.zeros(len(nodes.axis)),
        safe_after=np.full(len(nodes.axis), np.inf),
        opened=np.zeros(len(nodes.axis), np.int32),
    )


def make_room(rows, nodes, used, cells, demand):
    """Space to count in: zeros wherever a function finds or leaves it."""
    children = max(2, int(nodes.children[:used].max(initial=2)))
    values = int(cells.names[0])
    return Room(
        children=np.zeros(children, np.int64),
        place=np.zeros(children, np.int64),
        begin=np.zeros(children + 1, np.int64),
        touched=np.zeros(children, np.int64),
        x_count=np.zeros(values, np.int64),
        x_touched=np.zeros(values, np.int64),
        stamp=np.zeros(int(cells.names[1]), np.int64),
        run=np.zeros(1, np.int64),
        item_count=np.zeros(demand.linked, np.int64),
        by_item=np.zeros((values if demand.kind == LINKABILITY else 0, demand.linked), np.int64),
        now=np.zeros(rows.codes.shape[1], np.int32),
    )


@njit(cache=True)
def specialize(rows, nodes, used, axes, groups, cells, demand, work, room, order, buffer, limit):
    """Specialize the most general view until no valid candidate is left, or `limit` times.

    Parameters
    ----------
    rows, nodes, axes, groups, cells, demand
        As above. Rows are sorted so that distinct values of Y are counted in runs.
    used : int
        Nodes there are; the ones after them are made here.
    work, room
        `make_work` and `make_room`.
    order, buffer : int32[n]
        0 … n - 1, and room for as many.
    limit : int
        At most so many specializations.

    Returns
    -------
    used : int
        Nodes there are now; those of the cuts are marked in `work.in_cut`.
    most_general, safety : float
        Safety of the most general view, and of this one.
    done : int
        Specializations performed.
    partitions : int
        How many there are: runs of `order`, by `work.start` and `work.stop`, `work.value` the safety of each.
    """
    n, width = rows.codes.shape
    start, stop, node, link_next, link_head, value = (
        work.start, work.stop, work.node, work.link_next, work.link_head, work.value
    )  # fmt: skip
    spread, after, in_cut, is_open, gain = work.spread, work.after, work.in_cut, work.is_open, work.gain
    safe_after, opened, whole = work.safe_after, work.opened, work.whole
    done, candidates, partitions = np.int64(0), np.int64(0), np.int64(0)
    if n == 0:
        return used, np.inf, np.inf, done, partitions

    partitions, stop[0] = np.int64(1), n
    for a in range(width):
        node[0, a] = axes.roots[a]
        link_head[axes.roots[a]] = 0
        in_cut[axes.roots[a]] = True
    for a in range(width):
        if axes.forced[a]:
            partitions = _split(
                np.int64(axes.roots[a]), np.int64(a), partitions, rows, nodes, axes, order, buffer, start,
                stop, node, link_head, link_next, in_cut, whole, room,
            )  # fmt: skip
    for p in range(partitions):
        value[p] = _safety(order, start[p], stop[p], node[p], rows, nodes, groups, cells, demand, room)
    current = _least(value, partitions)
    most_general = current
    if current < demand.needed:
        return used, most_general, current, done, partitions
    for a in range(width):
        if not axes.forced[a]:
            used = _open(np.int64(axes.roots[a]), used, nodes, axes, demand, gain, is_open)
            if is_open[axes.roots[a]]:
                opened[candidates] = axes.roots[a]
                candidates += 1
    for p in range(partitions):
        for a in range(width):
            if is_open[node[p, a]]:
                _assess(
                    np.int64(p), np.int64(a), order, buffer, start, stop, node, rows, nodes, axes, groups,
                    cells, demand, room, value, after, spread, safe_after, gain,
                )  # fmt: skip

    while done < limit:
        if not demand.prunes:
            _look_again(
                partitions, node, value, after, is_open, safe_after, link_head, link_next, opened, candidates
            )
        winner, best, left = np.int64(-1), -1.0, np.int64(0)
        for c in range(candidates):
            v = np.int64(opened[c])
            safe = min(safe_after[v], current) if demand.prunes else safe_after[v]
            if safe < demand.needed:
                if demand.prunes:  # it stays invalid (Corollary 4.1)
                    is_open[v] = False
                else:
                    opened[left] = v
                    left += 1
                continue
            opened[left] = v
            left += 1
            score = gain[v] / (max(current - safe, 0.0) + 1.0)
            if score > best or (score == best and v < winner):
                winner, best = v, score
        candidates = left
        if winner < 0:
            break
        a = np.int64(nodes.axis[winner])
        is_open[winner] = False
        for c in range(candidates):
            if opened[c] == winner:
                candidates -= 1
                opened[c] = opened[candidates]
                break
        if demand.information == DISCERNIBILITY:  # what its partitions add to other nodes is counted anew
            p = np.int64(link_head[winner])
            while p >= 0:
                for b in range(width):
                    if is_open[node[p, b]]:
                        gain[node[p, b]] -= spread[p, b]
                p = np.int64(link_next[p, a])
        partitions = _split(
            winner, a, partitions, rows, nodes, axes, order, buffer, start, stop, node, link_head, link_next,
            in_cut, whole, room,
        )  # fmt: skip
        for child in range(nodes.first[winner], nodes.first[winner] + nodes.children[winner]):
            used = _open(np.int64(child), used, nodes, axes, demand, gain, is_open)
            if is_open[child]:
                opened[candidates] = child
                candidates += 1
        for child in range(nodes.first[winner], nodes.first[winner] + nodes.children[winner]):
            p = np.int64(link_head[child])
            while p >= 0:
                value[p] = _safety(
                    order, start[p], stop[p], node[p], rows, nodes, groups, cells, demand, room
                )
                # A partition whose records all went to one child is what it was, but for the winner's column.
                as_before = whole[p] and not axes.joins[a] and demand.information != DISCERNIBILITY
                for b in range(width):
                    if is_open[node[p, b]] and (b == a or not as_before):
                        _assess(
                            p, np.int64(b), order, buffer, start, stop, node, rows, nodes, axes, groups,
                            cells, demand, room, value, after, spread, safe_after, gain,
                        )  # fmt: skip
                p = np.int64(link_next[p, a])
        if demand.prunes:
            child_safety = np.inf
            for child in range(nodes.first[winner], nodes.first[winner] + nodes.children[winner]):
                p = np.int64(link_head[child])
                while p >= 0:
                    child_safety = min(child_safety, value[p])
                    p = np.int64(link_next[p, a])
            current = min(current, child_safety)
        else:
            current = _least(value, partitions)
        done += 1
    return used, most_general, current, done, partitions


@njit(cache=True)
def unmatched(first_low, first_high, first_flags, second_low, second_high, second_flags):
    """Which rows of two tables match no row of the other.

    Rows match if their intervals overlap in every column and they share no flag.

    Parameters
    ----------
    first_low, first_high : float64[n, J]
        Half-open intervals.
    first_flags : uint64[n]
        The inconsistent pairs a row is one half of.
    second_low, second_high, second_flags
        The same of the other table, m rows.

    Returns
    -------
    bool[n], bool[m]
    """
    alone_first, alone_second = np.ones(len(first_low), np.bool_), np.ones(len(second_low), np.bool_)
    hint = 0
    for i in range(len(first_low)):
        # Neighbours often match the same row, so the search begins where the last one ended.
        for step in range(len(second_low)):
            k = (hint + step) % len(second_low)
            if _match(
                first_low[i], first_high[i], first_flags[i], second_low[k], second_high[k], second_flags[k]
            ):
                alone_first[i] = False
                alone_second[k] = False
                hint = k
                break
    for k in range(len(second_low)):
        if not alone_second[k]:
            continue
        for step in range(len(first_low)):
            i = (hint + step) % len(first_low)
            if _match(
                first_low[i], first_high[i], first_flags[i], second_low[k], second_high[k], second_flags[k]
            ):
                alone_second[k] = False
                hint = i
                break
    return alone_first, alone_second


@njit(cache=True)
def matches(first_low, first_high, first_flags, second_low, second_high, second_flags):
    """All rows of the second table that match each row of the first: `start` int64[n + 1] and `listed` int32.

    Parameters are those of `unmatched`.
    """
    start = np.zeros(len(first_low) + 1, np.int64)
    for i in range(len(first_low)):
        for k in range(len(second_low)):
            start[i + 1] += _match(
                first_low[i], first_high[i], first_flags[i], second_low[k], second_high[k], second_flags[k]
            )
    start = np.cumsum(start)
    listed = np.empty(start[-1], np.int32)
    for i in range(len(first_low)):
        at = start[i]
        for k in range(len(second_low)):
            if _match(
                first_low[i], first_high[i], first_flags[i], second_low[k], second_high[k], second_flags[k]
            ):
                listed[at] = k
                at += 1
    return start, listed


@njit(cache=True)
def _match(first_low, first_high, first_flags, second_low, second_high, second_flags):
    if first_flags & second_flags:
        return False
    for j in range(len(first_low)):
        if first_low[j] >= second_high[j] or second_low[j] >= first_high[j]:
            return False
    return True


@_part
def _child(v, code, nodes, axes):
    """Which of a node's children, 0, 1, …, covers a code."""
    if nodes.route[v] >= 0:
        return np.int64(axes.routes[nodes.route[v] + code - nodes.lo[v]])
    return np.int64(code >= nodes.lo[nodes.first[v] + 1])


@_part
def _by_child(order, buffer, begin, end, v, rows, nodes, axes, room):
    """Write rows order[begin:end] into the buffer child by child, each from `room.begin` on."""
    a = np.int64(nodes.axis[v])
    found = np.int64(0)
    for i in range(begin, end):
        c = _child(v, rows.codes[order[i], a], nodes, axes)
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
        c = _child(v, rows.codes[order[i], a], nodes, axes)
        buffer[room.place[c]] = order[i]
        room.place[c] += 1
    return found


@_part
def _split(
    v, a, partitions, rows, nodes, axes, order, buffer, start, stop, node, link_head, link_next, in_cut,
    whole, room,
):  # fmt: skip
    """Specialize a node in every partition on its link; the number of partitions afterwards."""
    p = np.int64(link_head[v])
    link_head[v] = -1
    in_cut[v] = False
    for child in range(nodes.first[v], nodes.first[v] + nodes.children[v]):
        in_cut[child] = True
    while p >= 0:
        following = np.int64(link_next[p, a])
        begin, end = start[p], stop[p]
        found = _by_child(order, buffer, begin, end, v, rows, nodes, axes, room)
        for i in range(begin, end):
            order[i] = buffer[i]
        whole[p] = found == 1
        for k in range(found):
            slot = p
            if k:
                slot = partitions
                partitions += 1
                whole[slot] = False
                for b in range(node.shape[1]):
                    node[slot, b] = node[p, b]
                    if b != a:
                        link_next[slot, b] = link_head[node[p, b]]
                        link_head[node[p, b]] = slot
            start[slot], stop[slot] = room.begin[k], room.begin[k + 1]
            child = nodes.first[v] + room.touched[k]
            node[slot, a] = child
            link_next[slot, a] = link_head[child]
            link_head[child] = slot
        p = following
    return partitions


@_part
def _assess(
    p, a, order, buffer, start, stop, node, rows, nodes, axes, groups, cells, demand, room, value, after,
    spread, safe_after, gain,
):  # fmt: skip
    """Count what specializing a partition's node of column a would leave, and gain, in this partition."""
    v = np.int64(node[p, a])
    found = _by_child(order, buffer, start[p], stop[p], v, rows, nodes, axes, room)
    safe = np.inf
    if found == 1 and not axes.joins[a]:
        safe = value[p]
    else:
        for b in range(node.shape[1]):
            room.now[b] = node[p, b]
        for k in range(found):
            room.now[a] = nodes.first[v] + room.touched[k]
            child = _safety(
                buffer,
                room.begin[k],
                room.begin[k + 1],
                room.now,
                rows,
                nodes,
                groups,
                cells,
                demand,
                room,
            )
            safe = min(safe, child)
    safe_after[v] = min(safe_after[v], safe)
    if not demand.prunes:
        after[p, a] = safe
    if demand.information == DISCERNIBILITY:
        apart, together = 0.0, 0.0
        for k in range(found):
            records = 0
            for i in range(room.begin[k], room.begin[k + 1]):
                records += rows.weight[buffer[i]]
            together += records
            apart += float(records) * records
        spread[p, a] = together * together - apart
        gain[v] += spread[p, a]


@_part
def _look_again(
    partitions, node, value, after, is_open, safe_after, link_head, link_next, opened, candidates
):
    """Safety after each candidate, counted over all partitions: for joins that may drop values."""
    least, second, least_node = (
        np.zeros(node.shape[1]),
        np.zeros(node.shape[1]),
        np.zeros(node.shape[1], np.int64),
    )
    own = np.zeros(len(is_open))
    for v in range(len(own)):
        own[v] = np.inf
    for p in range(partitions):
        for a in range(node.shape[1]):
            own[node[p, a]] = min(own[node[p, a]], value[p])
    for a in range(node.shape[1]):
        least[a], second[a], least_node[a] = np.inf, np.inf, -1
    for p in range(partitions):
        for a in range(node.shape[1]):
            v = node[p, a]
            if least_node[a] == v:
                continue
            if own[v] < least[a]:
                least[a], second[a], least_node[a] = own[v], least[a], v
            elif own[v] < second[a]:
                second[a] = own[v]
    for c in range(candidates):
        v = opened[c]
        safe_after[v] = np.inf
        p = link_head[v]
        a = -1
        while p >= 0:
            if a < 0:
                a = 0
                while node[p, a] != v:
                    a += 1
            safe_after[v] = min(safe_after[v], after[p, a])
            p = link_next[p, a]
        if a >= 0:
            safe_after[v] = min(safe_after[v], second[a] if least_node[a] == v else least[a])


@_part
def _open(v, used, nodes, axes, demand, gain, is_open):
    """Make a node a candidate if it can be specialized; the number of nodes afterwards."""
    a = np.int64(nodes.axis[v])
    lo, hi = np.int64(nodes.lo[v]), np.int64(nodes.hi[v])
    if axes.numeric[a]:
        if hi - lo < 2:
            return used
        best, s = _best_point(v, nodes, axes, demand)
        below, above = axes.values[axes.at[a] + s - 1], axes.values[axes.at[a] + s]
        point = (below + above) / 2
        if axes.discrete[a]:
            point = np.ceil(point)
        elif point <= below:
            point = above
        nodes.first[v], nodes.children[v] = used, 2
        for k in range(2):
            child = used + k
            nodes.axis[child], nodes.first[child], nodes.children[child] = a, 0, 0
            nodes.route[child], nodes.flags[child] = -1, np.uint64(0)
            nodes.lo[child], nodes.hi[child] = (lo, s) if k == 0 else (s, hi)
            nodes.low[child] = nodes.low[v] if k == 0 else point
            nodes.high[child] = point if k == 0 else nodes.high[v]
        is_open[v] = True
        gain[v] = 0.0 if demand.information == DISCERNIBILITY else best
        return used + 2
    records = _records(axes, a, lo, hi)
    # A node that no record has is left as it is: to specialize it says nothing.
    if nodes.children[v] == 0 or records == 0:
        return used
    is_open[v] = True
    if demand.information == CLASS:
        gain[v] = _entropy(axes, a, lo, hi)
        for child in range(nodes.first[v], nodes.first[v] + nodes.children[v]):
            low, high = np.int64(nodes.lo[child]), np.int64(nodes.hi[child])
            gain[v] -= _records(axes, a, low, high) / records * _entropy(axes, a, low, high)
        gain[v] = max(gain[v], 0.0)
    elif demand.information == DISTORTION:
        gain[v] = records
    return used


@_part
def _best_point(v, nodes, axes, demand):
    """Gain of the best binary split, and its upper half's first code; of equals, the most even one."""
    a = np.int64(nodes.axis[v])
    lo, hi = np.int64(nodes.lo[v]), np.int64(nodes.hi[v])
    tallies = axes.tallies
    at = axes.at[a]
    records = _records(axes, a, lo, hi)
    whole = _entropy(axes, a, lo, hi) if demand.information == CLASS else 0.0
    best, best_s, best_even = -np.inf, lo + 1, np.inf
    for s in range(lo + 1, hi):
        below = 0
        for c in range(tallies.shape[1]):
            below += tallies[at + s, c] - tallies[at + lo, c]
        above = records - below
        if demand.information == CLASS:
            gained = (
                whole
                - below / records * _entropy(axes, a, lo, s)
                - above / records * _entropy(axes, a, s, hi)
            )
            gained = max(gained, 0.0)
        elif demand.information == DISTORTION:
            point = (axes.values[at + s - 1] + axes.values[at + s]) / 2
            gained = (
                records * (nodes.high[v] - nodes.low[v])
                - below * (point - nodes.low[v])
                - above * (nodes.high[v] - point)
            ) / axes.width[a]
        else:
            gained = 2.0 * below * above
        even = abs(above - below)
        if gained > best + 1e-12 or (gained > best - 1e-12 and even < best_even):
            best, best_s, best_even = max(gained, best), s, even
    return best, best_s


@_part
def _records(axes, a, lo, hi):
    """The records with codes lo … hi - 1."""
    records = np.int64(0)
    for c in range(axes.tallies.shape[1]):
        records += axes.tallies[axes.at[a] + hi, c] - axes.tallies[axes.at[a] + lo, c]
    return records


@_part
def _least(values, length):
    """The least of the first values; infinity of none."""
    least = np.inf
    for i in range(length):
        least = min(least, values[i])
    return least


@_part
def _entropy(axes, a, lo, hi):
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
def _safety(order, begin, end, now, rows, nodes, groups, cells, demand, room):
    """Safety of the values on X that rows order[begin:end] are part of in the join, under the nodes `now`."""
    if demand.kind == ANONYMITY:
        if len(cells.start) > 1:
            least = _least_linked(order, begin, end, now, rows, nodes, cells, demand, room)
        else:
            least = _distinct(order, begin, end, rows, demand)
        return least * _group_safety(now, nodes, groups, True)
    if len(cells.start) > 1:
        least = _least_margin(order, begin, end, now, rows, nodes, cells, demand, room)
    else:
        least = _margin(order, begin, end, rows, demand, room)
    return min(least, _group_safety(now, nodes, groups, False))


@_part
def _distinct(order, begin, end, rows, demand):
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
def _margin(order, begin, end, rows, demand, room):
    """The least k - l over the sensitive values in the view."""
    margin = _least(demand.limits, len(demand.limits))
    if rows.items.shape[1] == 0:
        return margin
    records = 0
    for i in range(begin, end):
        row = order[i]
        records += rows.weight[row]
        for q in range(rows.items.shape[1]):
            if rows.items[row, q] >= 0:
                room.item_count[rows.items[row, q]] += rows.weight[row]
    for i in range(begin, end):
        for q in range(rows.items.shape[1]):
            item = rows.items[order[i], q]
            if item >= 0 and room.item_count[item] > 0:
                margin = min(margin, demand.limits[item] - room.item_count[item] / records)
                room.item_count[item] = 0
    return margin


@_part
def _group_safety(now, nodes, groups, multiply):
    """Safety that earlier releases with all join attributes in X contribute: that of the least safe match."""
    if len(groups.start) == 1:
        return 1.0 if multiply else np.inf
    flags = np.uint64(0)
    for a in range(len(now)):
        flags |= nodes.flags[now[a]]
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


@_part
def _reaches(c, now, flags, nodes, cells):
    """Whether a cell matches the nodes of the columns of X."""
    if flags & cells.flags[c]:
        return False
    for j in range(len(cells.bound)):
        v = now[cells.bound[j]]
        if nodes.low[v] >= cells.high[c, j] or cells.low[c, j] >= nodes.high[v]:
            return False
    return True


@_part
def _least_linked(order, begin, end, now, rows, nodes, cells, demand, room):
    """The least number of distinct values of Y over the values on X that the rows are joined to.

    A value of Y counts once in a run: the rows of a history where these can't share one (cases 2 to 4 of
    section 5.4), else the rows with the same value of Y in the view.
    """
    flags = np.uint64(0)
    for a in range(len(now)):
        flags |= nodes.flags[now[a]]
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
            if room.x_count[x] == 0:
                room.x_touched[found] = x
                found += 1
            room.x_count[x] += weight * cells.rows[c]
    least = np.inf
    for k in range(found):
        least = min(least, room.x_count[room.x_touched[k]])
        room.x_count[room.x_touched[k]] = 0
    return least


@_part
def _least_margin(order, begin, end, now, rows, nodes, cells, demand, room):
    """The least k - l over sensitive values, and values on X that the rows are joined to (section 5.3)."""
    flags = np.uint64(0)
    for a in range(len(now)):
        flags |= nodes.flags[now[a]]
    found = 0
    i = begin
    while i < end:
        history, records, first = rows.history[order[i]], 0, i
        while i < end and rows.history[order[i]] == history:
            row = order[i]
            records += rows.weight[row]
            for q in range(rows.items.shape[1]):
                if rows.items[row, q] >= 0:
                    room.item_count[rows.items[row, q]] += rows.weight[row]
            i += 1
        for at in range(cells.start[history], cells.start[history + 1]):
            c = cells.listed[at]
            if not _reaches(c, now, flags, nodes, cells):
                continue
            x = cells.x[c]
            if room.x_count[x] == 0:
                room.x_touched[found] = x
                found += 1
            room.x_count[x] += records * cells.rows[c]
            for item in range(demand.linked):
                room.by_item[x, item] += room.item_count[item] * cells.rows[c]
            for q in range(cells.items.shape[1]):
                if cells.items[c, q] >= 0:
                    room.by_item[x, cells.items[c, q]] += records * cells.rows[c]
        for k in range(first, i):
            for q in range(rows.items.shape[1]):
                if rows.items[order[k], q] >= 0:
                    room.item_count[rows.items[order[k], q]] = 0
    margin = _least(demand.limits, len(demand.limits)) if found else np.inf
    for k in range(found):
        x = room.x_touched[k]
        for item in range(demand.linked):
            if room.by_item[x, item] > 0:
                margin = min(margin, demand.limits[item] - room.by_item[x, item] / room.x_count[x])
                room.by_item[x, item] = 0
        room.x_count[x] = 0
    return margin
