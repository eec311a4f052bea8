"""The distance between the numbers of a signature, and the bins that are too close to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from republish.anonymize.contract import Sensitive

Least = float | Mapping[str, float]
"""A share of all bins, or a ratio."""


def near_bins(edges: Sequence[float], least: Least) -> list[range]:
    """The longest runs of bins of which no two are far enough apart.

    A signature has a number outside of each of them: then its lowest and its highest bin are far enough
    apart, as both would lie in one run if they were not. `least` is the share of all bins that lies between
    the upper edge of the one and the lower edge of the other, or how many times the one is as large as the
    other.

    Examples
    --------
    >>> near_bins([0, 10, 20, 30, 40], 0.25)
    [range(0, 2), range(1, 3), range(2, 4)]
    >>> near_bins([0, 10, 20, 40], {"ratio": 2})
    [range(0, 2), range(1, 3)]
    """
    bins, runs = len(edges) - 1, list[range]()
    for first in range(bins):
        last = next((b for b in range(first + 1, bins) if _are_far(edges, first, b, least)), bins)
        if not runs or last > runs[-1].stop:
            runs.append(range(first, last))
    return runs


def spread_faults(spread: Mapping[str, Least], sensitive: Sensitive) -> list[tuple[str, str]]:
    """List the faults of a contract's spread."""
    faults, columns = [], {one.name: one for one in sensitive.columns}
    for name, least in spread.items():
        if name not in columns:
            message = f"is no sensitive column; accepted: {', '.join(columns)}"
        elif not columns[name].bins:
            message = "is for numbers: declare kind: number and bins of the sensitive column"
        elif columns[name].publishes_missing:
            message = (
                "can't be promised beside missing: publish: what is missing is no number. Choose leave_out"
            )
        elif isinstance(least, Mapping) and columns[name].bins[0] < 0:
            message = "ratio is for numbers of which none is below 0. Write a share of all bins, as in 0.3"
        elif near_bins(columns[name].bins, least)[0].stop == len(columns[name].bins) - 1:
            message = (
                "is more than lies between the lowest and the highest bin: no candidates would be that far"
                " apart. Write less, or declare narrower bins"
            )
        else:
            continue
        faults.append((f"principle.spread.{name}", message))
    return faults


def check_spread(declared: Mapping[str, Any]) -> dict[str, Least]:
    """A spread as a contract declares it.

    Raises
    ------
    ValueError
        If it is no share and no ratio.
    """
    checked: dict[str, Least] = {}
    for name, least in declared.items():
        is_ratio = isinstance(least, Mapping) and set(least) == {"ratio"}
        number = least["ratio"] if is_ratio else least
        least_number, most = (1.0, float("inf")) if is_ratio else (0.0, 1.0)
        if type(number) not in (int, float) or not least_number < number < most:
            raise ValueError(
                f"says of {name} neither a share between 0 and 1, as 0.3, nor {{ratio: …}} above 1"
            )
        checked[name] = {"ratio": float(number)} if is_ratio else float(number)
    return checked


def _are_far(edges: Sequence[float], lowest: int, highest: int, least: Least) -> bool:
    lower, upper = edges[highest], edges[lowest + 1]
    if isinstance(least, Mapping):
        return lower >= least["ratio"] * upper
    return lower - upper >= least * (edges[-1] - edges[0])
