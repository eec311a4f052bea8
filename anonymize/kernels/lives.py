"""The likeliest value of each person in each release, by all ways of having had values in their groups."""

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def likeliest(
    content: Ints, is_gone: Bools, held: tuple[Ints, Ints, Floats], becomes: Floats, leaves: Floats
) -> tuple[Ints, Floats]:
    """Find the likeliest value of people in each release in which they are, and its probability.

    These are forward and backward weights of a hidden Markov model. Only values are weighed that a person's
    group may hold: elsewhere a weight is 0.

    Parameters
    ----------
    content
        int64[N, R]: the row of `held` of what a person's group held; -1 of who is absent.
    is_gone
        bool[N]: who left the table after the last release in which they are.
    held
        int64[C + 1], int64[K], float64[K]: where each row of a sparse matrix begins, its values in order, and
        how likely each is by the group. A group that held what the one before did says it once.
    becomes
        float64[V, V]: the probability of each value after each.
    leaves
        float64[V]: that somebody leaves.

    Returns
    -------
    tuple[int64[N, R], float64[N, R]]
        Value and probability; 0 and 0 of who is absent.
    """
    begins, values, shares = held
    people, releases = content.shape
    number = len(becomes)
    every: Ints = np.arange(number)
    ones: Floats = np.ones(number)
    entering = _entering(becomes, releases)
    forward, backward = np.empty((2, releases, number))
    # Where no value is possible, any may be: the weights of all are as large then.
    is_any = np.zeros(releases, np.bool_)
    ahead = np.empty(number)
    best, sure = np.zeros((people, releases), np.int64), np.zeros((people, releases))
    for p in range(people):
        here = np.flatnonzero(content[p] >= 0)
        first, last = here[0], here[-1]
        for at in range(first, last + 1):
            c = content[p, at]
            own, share = every, ones
            if c >= 0:
                own, share = values[begins[c] : begins[c + 1]], shares[begins[c] : begins[c + 1]]
            if at > 0 and c == content[p, at - 1]:
                share = ones[: len(own)]
            now = forward[at]
            if at == first:
                now[own] = entering[at][own]
            else:
                now[own] = 0
                d = content[p, at - 1]
                before = every if d < 0 or is_any[at - 1] else values[begins[d] : begins[d + 1]]
                for w in before:
                    weight = forward[at - 1, w]
                    if weight > 0:
                        for v in own:
                            now[v] += weight * becomes[w, v]
            total = 0.0
            for k in range(len(own)):
                now[own[k]] *= share[k]
                total += now[own[k]]
            is_any[at] = total == 0
            if total > 0:
                for v in own:
                    now[v] /= total
            else:
                now[:] = 1 / number
        for at in range(last, first - 1, -1):
            c = content[p, at]
            own = every if c < 0 or is_any[at] else values[begins[c] : begins[c + 1]]
            now = backward[at]
            if at == last:
                for v in own:
                    now[v] = leaves[v] if is_gone[p] else 1.0
            else:
                d = content[p, at + 1]
                after, share = every, ones
                if d >= 0:
                    after, share = values[begins[d] : begins[d + 1]], shares[begins[d] : begins[d + 1]]
                if d == c:
                    share = ones[: len(after)]
                some = 0.0
                for k in range(len(after)):
                    ahead[k] = share[k] * backward[at + 1, after[k]]
                    some += ahead[k]
                total = 0.0
                for v in own:
                    now[v] = 0.0 if some > 0 else 1 / number
                    for k in range(len(after)):
                        now[v] += becomes[v, after[k]] * ahead[k]
                    total += now[v]
                if total > 0:
                    for v in own:
                        now[v] /= total
            if c < 0:
                continue
            top, total = 0.0, 0.0
            for v in own:
                weight = forward[at, v] * now[v]
                total += weight
                if weight > top:
                    top, best[p, at] = weight, v
            sure[p, at] = top / total if total > 0 else 1 / number
    return best, sure


@compiled()
def _entering(becomes: Floats, releases: int) -> Floats:
    """float64[R, V]: the probability of each value of who is in no release before."""
    number = len(becomes)
    found = np.zeros((releases, number))
    found[0] = 1 / number
    for at in range(1, releases):
        for w in range(number):
            for v in range(number):
                found[at, v] += found[at - 1, w] * becomes[w, v]
    return found
