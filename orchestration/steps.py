"""What long work is doing: said where it is done, and heard by a command that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_heard: ContextVar[Callable[[str], None]] = ContextVar("heard", default=lambda _step: None)


def say_step(step: str) -> None:
    """Say what is done from now on, in words like `the audit`."""
    _heard.get()(step)


@contextmanager
def hearing(hear: Callable[[str], None]) -> Iterator[None]:
    """Call a function with each step that is said in this context."""
    token = _heard.set(hear)
    try:
        yield
    finally:
        _heard.reset(token)
