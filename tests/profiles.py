"""The two profiles of a test run: `quick` for every change, `thorough` before a release.

A run is quick unless it is started with `--hypothesis-profile=thorough`. A quick run tries a tenth of the
examples of each property and leaves out tests that are marked `thorough`, but no file as a whole. Of files
whose tests are many alike and slow, marked `sampled`, it takes every third test, unless it is told which
tests to run. Examples and tests are drawn anew in each run, by the seed at the head of its report.
"""

import random
import re
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, settings

THOROUGH, QUICK = "thorough", "quick"
settings.register_profile(THOROUGH, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
settings.register_profile(QUICK, settings.get_profile(THOROUGH), max_examples=10)


ROOT = Path(__file__).resolve().parents[1]


class Run:
    """The run that this process takes part in."""

    seed = 0
    is_whole = True
    """Whether it is of all tests, and not of those that somebody names."""


def is_thorough() -> bool:
    """Whether everything is tried in this run."""
    return settings.get_current_profile_name().startswith(THOROUGH)


def examples(number: int) -> settings:
    """So many examples of a property in a thorough run, a tenth of them in a quick one."""
    return settings(max_examples=number if is_thorough() else max(5, number // 10))


def is_drawn(name: str) -> bool:
    """Whether a test of a file that is sampled takes part in a quick run, by its seed."""
    return random.Random(f"{Run.seed} {name}").random() < 1 / 3


@cache
def is_same_in_both(file: Path) -> bool:
    """Whether a thorough run has the same tests of a file as a quick one, and need not run them after it.

    So it is if neither the file, nor any file of tests that it has something from, speaks of either.
    """
    found, open_ = {file}, [file]
    while open_:
        text = open_.pop().read_text()
        if re.search(r"hypothesis|thorough|sampled|tests\.profiles", text):
            return False
        names = re.findall(r"from (tests\.[\w.]+) import", text)
        further = {ROOT / f"{name.replace('.', '/')}.py" for name in names} - found
        open_ += [helper for helper in further if helper.exists()]
        found |= further
    return True


def drawn(items, quick: int, thorough: int | None = None) -> list:
    """As many of some items as said, by the run's seed; in a thorough run all, unless a number is given."""
    items = list(items)
    number = (thorough or len(items)) if is_thorough() else quick
    return random.Random(Run.seed).sample(items, number)
