"""Outcomes of an engine's jobs, as the process that did them tells the one that asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from republish.anonymize.errors import HomeError, RepublishError
from republish.orchestration.steps import say_step

R = TypeVar("R")


class Answer(NamedTuple):
    """The outcome of a job: a result, or what was raised."""

    result: Any = None
    refusal: RepublishError | None = None
    failure: str = ""
    """Another error, without its words: they may quote a person's value."""


def answer(function: Callable[[Any], Any], job: Any) -> Answer:
    """Do a job, and say what became of it."""
    try:
        return Answer(function(job))
    except RepublishError as refusal:
        return Answer(refusal=refusal)
    except BaseException as error:  # noqa: BLE001 - whatever a library raises, panics of Rust too
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        place = f"{at.tb_frame.f_code.co_filename}, line {at.tb_lineno}" if at is not None else "?"
        return Answer(failure=f"unexpected {type(error).__name__} in {place}")


def opened(answered: Answer) -> Any:
    """The result in an answer; raises what was raised."""
    if answered.refusal is not None:
        raise answered.refusal
    if answered.failure:
        raise HomeError(f"a part of the people could not be worked on: {answered.failure}")
    return answered.result


def counted(results: Iterator[R], jobs: int, what: str) -> Iterator[R]:
    """The results, saying of each of several jobs that it is done."""
    for done, result in enumerate(results, start=1):
        if jobs > 1:
            say_step(f"{what} {done} of {jobs} is done")
        yield result
