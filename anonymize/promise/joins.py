"""The joins that the promise of a view is about: which earlier releases a reader may take together.

Whoever makes a view, attacks it or writes about it takes the joins from here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

MOST_IN_ANY_SUBSET = 5
"""Of so many earlier releases every subset is looked at."""
JOINED = (
    "Joined with any of the earlier releases (of more than five: with all, with those of other products, with"
    " the series' own, with any two, with one, and with none)"
)
"""The same in words, as a sentence begins."""


def joins_of(
    view: Collection[str],
    earlier: Sequence[Collection[str | None]],
    x: Collection[str],
    y: Collection[str],
    *,
    others: int,
    y_is_one_value: bool,
) -> list[tuple[int, ...]]:
    """List the joins of a view in which a value on X may be linked to one on Y, that with all releases first.

    In each of them X is what the join has of it, so a reader without the other columns is looked at too.

    Parameters
    ----------
    view
        The names of the view's columns, and what its records are called.
    earlier
        The same of each earlier release; the first `others` are of other products.
    x, y
        X and Y by name.
    y_is_one_value
        Whether a value on Y has all columns of Y (anonymity), so that a join without one of them says
        nothing of it. Under linkability each column is protected by itself.

    Returns
    -------
    list
        Of each join the positions in `earlier`, ascending.

    Examples
    --------
    >>> patients, payroll = {"job", "disease"}, {"job", "pay"}
    >>> joins_of({"age", "job"}, [patients, payroll], ["age"], ["disease"], others=2, y_is_one_value=False)
    [(0, 1), (0,)]
    """
    wanted = set(y)

    def links(some: tuple[int, ...]) -> bool:
        there = set(view).union(*(earlier[at] for at in some))
        return not there.isdisjoint(x) and (there >= wanted if y_is_one_value else bool(there & wanted))

    every, *fewer = _subsets(len(earlier), others)
    return [every, *(some for some in fewer if links(some))]


def _subsets(earlier: int, others: int) -> list[tuple[int, ...]]:
    """The subsets of so many earlier releases that are looked at, the whole first."""
    every = tuple(range(earlier))
    sizes = range(earlier, -1, -1) if earlier <= MOST_IN_ANY_SUBSET else (earlier, 2, 1, 0)
    some = [subset for size in sizes for subset in combinations(every, size)]
    return list(dict.fromkeys([*some[:1], every[:others], every[others:], *some]))
