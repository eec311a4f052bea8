"""The decorator of kernels: loops that are interpreted while there is little to do, and compiled after that.

To compile the loops of a first release takes fifteen seconds. To import numba takes a sixth as long as a
release of three hundred people. Interpreted, their loops take a tenth of a second. So numba is asked when a
loop is given a long array, or once short ones took `PATIENCE` together: then for all loops of a process.
What a loop answers is the same in both ways, to the last bit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from republish.anonymize.late import on_first_call

LONG = 32 * 1024
"""An array of more bytes is worth compiling for: three quasi-identifiers of 1,300 people, say."""
PATIENCE = 2.0
"""Processor seconds that a process interprets loops before it asks numba."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

int64, uint64 = cast(Callable[[Any], int], np.int64), cast(Callable[[Any], int], np.uint64)
"""A number in 64 bits. In kernels it is numpy's, which says the width; to the type checker it is a number."""

_dispatcher = on_first_call("republish.anonymize.kernels.numba_loops", "dispatcher")


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function when that is worth it, for good, and let other threads run meanwhile."""

    def decorate(function: Kernel) -> Kernel:
        return cast(Kernel, Loop(function, options))

    return decorate


class Loop:
    """A function of numbers and arrays. Where a compiled loop calls it, it is compiled into that one."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func = function
        self.targetoptions = options  # by this name numba looks for them
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns."""
        if _here.interprets:
            return self.py_func(*arguments)
        return interpreter.answer(self, arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's own, which compiles the function for the types that it is called with."""
        return _dispatcher(self.py_func, **self.targetoptions)


class Interpreter:
    """Python itself, which answers for loops as long as it is the faster way."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """What that took so far; infinity from the first loop on that numba was asked for."""

    def answer(self, loop: Loop, arguments: tuple[Any, ...]) -> Any:
        """What a loop returns that no other one calls."""
        if self.seconds < PATIENCE and all(map(is_short, arguments)):
            return self.interpret(loop, arguments)
        self.stop()
        return loop.dispatcher(*arguments)

    def interpret(self, loop: Loop, arguments: tuple[Any, ...]) -> Any:
        """What Python returns of it, and of those that it calls. Numbers wrap around as in numba."""
        begun = time.thread_time()
        _here.interprets = True
        try:
            with np.errstate(over="ignore"):
                return loop.py_func(*arguments)
        finally:
            _here.interprets = False
            self.seconds += time.thread_time() - begun

    def stop(self) -> None:
        """Ask numba for every loop from now on."""
        self.seconds = np.inf


class _Here(threading.local):
    """What this thread is doing."""

    interprets = False
    """Whether it is inside an interpreted loop."""


_here = _Here()
interpreter = Interpreter()
"""That of this process."""


def is_short(argument: Any) -> bool:
    """Whether there is no long array in an argument of a loop, which may be a tuple of arrays."""
    if isinstance(argument, tuple):
        return all(map(is_short, argument))
    return getattr(argument, "nbytes", 0) <= LONG
