"""Parts of a table that are worked on side by side."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import polars as pl

Part = TypeVar("Part")
Answer = TypeVar("Answer")


def side_by_side(work: Callable[..., None], *parts: Iterable[Any]) -> None:
    """Call `work` with each part, in as many threads as polars has.

    POLARS_MAX_THREADS is what shards that are released side by side divide the cores by. With one thread,
    none is begun: it would take a twentieth of the release of a small table.
    """
    threads = pl.thread_pool_size()
    if threads == 1:
        for part in zip(*parts, strict=True):
            work(*part)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, *parts))


def in_order(work: Callable[[Part], Answer], parts: Iterable[Part]) -> Iterator[Answer]:
    """What `work` answers for each part, in as many threads as polars has.

    Memory holds as many answers as there are threads, and one.
    """
    rest = iter(parts)
    with ThreadPoolExecutor(threads := pl.thread_pool_size()) as pool:
        waiting = deque(pool.submit(work, part) for part in itertools.islice(rest, threads))
        while waiting:
            answer = waiting.popleft().result()
            waiting.extend(pool.submit(work, part) for part in itertools.islice(rest, 1))
            yield answer
