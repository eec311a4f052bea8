"""Seconds by phase: what each named function took while something else ran."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

OTHER, WHOLE = "other", "whole"


@contextmanager
def timed(phases: Mapping[str, tuple[Any, str]]) -> Iterator[dict[str, float]]:
    """Seconds spent in each phase, in the `other` steps and in the `whole`, once the block has ended.

    Parameters
    ----------
    phases
        Phase -> the module or class that the function is called from, and its name there. Phases don't call
        one another.
    """
    spent = dict.fromkeys([*phases, OTHER, WHOLE], 0.0)
    originals = {phase: getattr(*place) for phase, place in phases.items()}

    def timing(phase: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return originals[phase](*arguments, **named)
            finally:
                spent[phase] += time.perf_counter() - began

        return call

    for phase, place in phases.items():
        setattr(*place, timing(phase))
    began = time.perf_counter()
    try:
        yield spent
    finally:
        spent[WHOLE] = time.perf_counter() - began
        spent[OTHER] = spent[WHOLE] - sum(spent[phase] for phase in phases)
        for phase, place in phases.items():
            setattr(*place, originals[phase])
