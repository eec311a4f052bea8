"""Charts of the ledger over the last releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from republish.anonymize.contract import Contract
from republish.anonymize.global_guarantee.forecast import HORIZON, forecast
from republish.anonymize.global_guarantee.parameters import GlobalGuarantee
from republish.anonymize.plot import Plot
from republish.anonymize.principle.state import State

SHOWN = (0, 1, 2, 4, 8)
"""People are counted who can be placed in no more releases, in 1, 2 to 3, 4 to 7, and 8 or more."""


def plots(contract: Contract[GlobalGuarantee], states: Mapping[str, State]) -> list[Plot]:
    """Chart how many people can be placed in how many more releases, as forecast after each release."""
    tables = {release: forecast(state, contract) for release, state in states.items()}

    def draw(axes: Any) -> None:
        bottom = [0] * len(tables)
        for start, stop in zip(SHOWN, (*SHOWN[1:], HORIZON + 1), strict=True):
            counts = [
                int(table.filter(table["releases_left"].is_between(start, stop - 1))["people"].sum())
                for table in tables.values()
            ]
            axes.bar(list(tables), counts, bottom=bottom, label=_label(start, stop), width=0.7)
            bottom = [low + count for low, count in zip(bottom, counts, strict=True)]
        axes.set(ylabel="people")
        axes.tick_params(axis="x", labelrotation=30, labelsize=7)
        axes.legend(frameon=False, fontsize=8, title="more releases", title_fontsize=8)

    return [Plot("people by the further releases that can place them", draw)]


def _label(start: int, stop: int) -> str:
    if stop > HORIZON:
        return f"{start} or more"
    return str(start) if stop == start + 1 else f"{start} to {stop - 1}"
