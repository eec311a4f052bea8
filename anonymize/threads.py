"""Parts of a table that are worked on side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl


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
