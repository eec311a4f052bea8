"""Long work on a terminal: its part, its step, and the time left. A pipe is told nothing of it."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.status import Status
from rich.text import Text

from republish.orchestration.cli.terminal import err, out
from republish.orchestration.steps import hearing


@dataclass
class Work(AbstractContextManager["Work"]):
    """Long work: on a terminal, a line says what it does and how long it takes yet."""

    name: str
    parts: int = 0
    """How many parts it has, if they take alike."""
    pace: float | None = None
    """Seconds that a part takes, if anything is known of it; from the first part on, those that it took."""
    done: int = field(default=0, init=False)
    _part: str = field(default="", init=False)
    _step: str = field(default="", init=False)
    _began: float = field(default=0.0, init=False)
    _spent: float = field(default=0.0, init=False)
    _status: Status | None = field(default=None, init=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        self._open.enter_context(hearing(self.step))
        if err.is_terminal:
            self._status = self._open.enter_context(err.status(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def begin(self, part: str) -> None:
        """Say which part is worked on now; the one before is done, if it was not ended."""
        if self._part:
            self.end()
        self._part, self._step = part, ""

    def step(self, step: str) -> None:
        """Say what is done of it now."""
        self._step = step

    def end(self) -> float:
        """Count a part as done; returns the seconds since the part before it was."""
        self.done, self._part, self._step = self.done + 1, "", ""
        before, self._spent = self._spent, time.perf_counter() - self._began
        self.pace = self._spent / self.done
        return self._spent - before

    def print(self, line: str) -> None:
        """Print a result, above the line."""
        if self._status is not None:
            self._status.stop()
        out.print(line)
        if self._status is not None:
            self._status.start()

    @property
    def left(self) -> float | None:
        """Seconds that it takes yet, about; None if nothing is known."""
        if self.pace is None:
            return None
        current = time.perf_counter() - self._began - self._spent
        return max(0.0, self.pace * (self.parts - self.done) - current)

    def __rich__(self) -> Text:
        counted = f"{self.done + 1} of {self.parts}" if self._part and self.parts > 1 else ""
        words = [" ".join(filter(None, (self.name, self._part))), counted, self._step]
        if self.left:
            words.append(f"about {_duration(self.left)} left")
        return Text(", ".join(filter(None, words)))


def _duration(seconds: float) -> str:
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(1, round(seconds))} s"
