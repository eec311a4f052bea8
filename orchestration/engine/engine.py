"""The engines' protocol, and the choice of one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from republish.anonymize.errors import HomeError

J = TypeVar("J")
R = TypeVar("R")
VARIABLE = "REPUBLISH_ENGINE"
"""Names the engine: `local`, or `local[2]` for two shards at a time; `spark`, or `spark[MASTER]`."""
NAMED = re.compile(r"local(?:\[(?P<workers>\d+)\])?|spark(?:\[(?P<master>.+)\])?")


class Engine(Protocol):
    """Maps a function over jobs, in several processes or on several machines."""

    def run(
        self, function: Callable[[J], R], jobs: Sequence[J], people: int = 0, what: str = "shard"
    ) -> Iterator[R]:
        """Call a function for each job; results come in the order of the jobs.

        Parameters
        ----------
        function
            Of a module. It is called once or more for each job: called again, it does the same.
        jobs
            What it is called with; they can be pickled.
        people
            In the largest job: what memory is reckoned by. 0 where it does not matter.
        what
            A job is about one of these: for messages.

        Raises
        ------
        RepublishError
            Whatever the function raised for one of the jobs.
        HomeError
            If what runs it ended before it was done, twice.
        """
        ...


def named_engine(name: str | None) -> None:
    """Name the engine for this process and all that it starts; None for the one that is named already.

    Raises HomeError if there is no such engine.
    """
    if name is not None:
        os.environ[VARIABLE] = name
    the_engine()


def the_engine() -> Engine:
    """The engine that REPUBLISH_ENGINE names, or `local`.

    Raises HomeError if it names none, or what it needs is not installed.
    """
    given = os.environ.get(VARIABLE, "local")
    named = NAMED.fullmatch(given)
    if named is None:
        raise HomeError(
            f"{VARIABLE}: {given} is no engine: it is local, or local[2] for two shards at a time; or spark,"
            " or spark[MASTER]"
        )
    if given.startswith("spark"):
        from republish.orchestration.engine.spark import Spark  # noqa: PLC0415 - one of the two is imported

        return Spark(named["master"])
    from republish.orchestration.engine.local import Local  # noqa: PLC0415

    return Local(int(named["workers"]) if named["workers"] else None)
