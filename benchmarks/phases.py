"""Seconds by phase: what each named function took while something else ran."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

OTHER, WHOLE = "other", "whole"


@contextmanager
def timed(
    phases: Mapping[str, tuple[Any, str]], clock: Callable[[], float] = time.perf_counter
) -> Iterator[dict[str, float]]:
    """Seconds spent in each phase, in the `other` steps and in the `whole`, once the block has ended.

    Parameters
    ----------
    phases
        Phase -> the module or class that the function is called from, and its name there. Phases don't call
        one another.
    clock
        What is measured: seconds that pass, or with `time.process_time` seconds of all processors.
    """
    spent = dict.fromkeys([*phases, OTHER, WHOLE], 0.0)
    originals = {phase: getattr(*place) for phase, place in phases.items()}

    def timing(phase: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            began = clock()
            try:
                return originals[phase](*arguments, **named)
            finally:
                spent[phase] += clock() - began

        return call

    for phase, place in phases.items():
        setattr(*place, timing(phase))
    began = clock()
    try:
        yield spent
    finally:
        spent[WHOLE] = clock() - began
        spent[OTHER] = spent[WHOLE] - sum(spent[phase] for phase in phases)
        for phase, place in phases.items():
            setattr(*place, originals[phase])
