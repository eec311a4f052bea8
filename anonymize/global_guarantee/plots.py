"""Charts of the ledger over the last releases."""

from __future__ import annotations

from collections.abc import Mapping

from republish.anonymize.contract import Contract
from republish.anonymize.global_guarantee.forecast import HORIZON, forecast
from republish.anonymize.global_guarantee.parameters import GlobalGuarantee
from republish.anonymize.plot import Chart, OverReleases
from republish.anonymize.principle.state import State

SHOWN = (0, 1, 2, 4, 8)
"""People are counted who can be placed in no more releases, in 1, 2 to 3, 4 to 7, and 8 or more."""


def plots(contract: Contract[GlobalGuarantee], states: Mapping[str, State]) -> list[Chart]:
    """Chart how many people can be placed in how many more releases, as forecast after each release."""
    tables = [forecast(state, contract) for state in states.values()]
    lines = {
        _label(start, stop): tuple(
            int(table.filter(table["releases_left"].is_between(start, stop - 1))["people"].sum())
            for table in tables
        )
        for start, stop in zip(SHOWN, (*SHOWN[1:], HORIZON + 1), strict=True)
    }
    return [
        OverReleases("people by the further releases that can place them", "people", tuple(states), lines)
    ]


def _label(start: int, stop: int) -> str:
    if stop > HORIZON:
        return f"{start} or more"
    return str(start) if stop == start + 1 else f"{start} to {stop - 1}"
