"""What grows with the number of a series' releases, and with the number of a home's products.

Made-up census people under m-invariance (m = 10; m = 3 of fewer than a thousand), a tenth of whom are
replaced before each daily release. A row is about one release, by a command of its own; those before it were
made in one process. *kB* are what this release added to the home: its private folder, its published one, and
Dagster's tables. Processor seconds are of a command and its workers, without Great Expectations' own process,
and have its imports in them. *Nothing due* is `republish release` when all releases are published: it
verifies them. *Estimate* reads all releases of the series. Dagster's server is begun anew for each row:
*server* is how long it takes until it knows the home's assets, *all assets* and *one asset* how long until
what its pages ask of them is answered, by the clock.

Products have 60 people each and one release; a row is about the release of the last product. The machine was
busy with other work, which makes seconds by the clock longer, and a first release compiles kernels.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.speed.shards import MACHINE, Spent, watched
from benchmarks.tables import Table, main
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.dagster.webserver import token_of
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

QUICK = {"people": (300,), "releases": (1, 2), "large": 2, "products": (1, 2), "pages": 0}
FIRST = dt.date(2024, 1, 1)
OF_PRODUCTS = 60
"""People of each product."""
PATIENCE = 600
"""Seconds in which Dagster's server begins, at most."""
TOGETHER = """
import sys
from pathlib import Path
from republish.orchestration.cli.releasing import make_due_releases
from republish.orchestration.contracts.contract_file import load_contract
for contract in sys.argv[2:]:
    make_due_releases(load_contract(Path(contract)), None, Path(sys.argv[1]))
"""
"""Releases of many products in one process."""
ALL_ASSETS = """{ assetNodes { id assetKey { path } groupName jobNames isPartitioned
    dependencyKeys { path } dependedByKeys { path } hasAssetChecks } }"""
ONE_ASSET = """query Partitions($path: [String!]!) {
    assetNodeOrError(assetKey: {path: $path}) { ... on AssetNode { partitionKeys
        assetPartitionStatuses { ... on TimePartitionStatuses { ranges { startKey endKey status } } } } } }"""
Ask = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""What asks Dagster's server: a query and its variables."""
ASKED = ("release, CPU s", "seconds", "MiB", "nothing due, CPU s", "status, CPU s")
SHOWN = ("server, s", "all assets, s", "one asset, s")


def tables(
    people: tuple[int, ...] = (300, 20_000),
    releases: tuple[int, ...] = (1, 10, 50, 120, 500),
    large: int = 120,
    products: tuple[int, ...] = (1, 10, 30, 200),
    pages: int = 1,
) -> Iterator[Table]:
    """A row for each number of releases, and for each number of products.

    Of series of a thousand people and more, releases up to the number `large` are made. With `pages` 0, no
    server is begun.
    """
    with tempfile.TemporaryDirectory() as folder:
        rows: list[list[Any]] = []
        for number in people:
            numbers = [one for one in releases if number < 1_000 or one <= large]
            rows += _of_releases(Path(folder) / f"{number}", number, numbers, pages=pages)
        kilobytes = "private, kB", "published, kB", "dagster, kB"
        yield Table(
            "Releases of a series", ("", *ASKED, "verify, CPU s", "estimate, CPU s", *kilobytes, *SHOWN), rows
        )
        made = _of_products(Path(folder) / "products", products, pages=pages)
        yield Table("Products of a home", ("", *ASKED, *SHOWN), list(made))


def _of_releases(work: Path, people: int, numbers: Sequence[int], *, pages: int) -> Iterator[list[Any]]:
    """A row on each of some releases of a series."""
    contract, dates = _series(work, "census", people, max(numbers)), _dates(max(numbers))
    home, before = work / "home", 0
    for number in numbers:
        if number - before > 1:
            _release(contract, home, dates[number - 2])
        was = _kilobytes(home / "dagster")
        spent = _release(contract, home, dates[number - 1])
        dagster = _kilobytes(home / "dagster") - was
        series = Series(load_contract(contract), Home.named(home))
        folders = series.private(dates[number - 1]), series.published(dates[number - 1])
        verified, estimated = (_run(asked, str(series.published_folder)) for asked in ("verify", "estimate"))
        yield [
            f"{people:,} people, release {number}",
            *_asked(contract, home, spent, dates[number - 1]),
            verified.processor,
            estimated.processor,
            *map(_kilobytes, folders),
            dagster,
            *_shown(home, [series.product, "release"], pages=pages),
        ]
        before = number


def _of_products(work: Path, numbers: Sequence[int], *, pages: int) -> Iterator[list[Any]]:
    """A row on the release of the last product, where a home has so many."""
    home, before = work / "home", 0
    for number in numbers:
        *others, last = (
            _series(work / f"product_{at}", f"product_{at}", OF_PRODUCTS, 1, at)
            for at in range(before + 1, number + 1)
        )
        if others:
            _watched([sys.executable, "-c", TOGETHER, str(home), *map(str, others)])
        spent, before = _release(last, home, f"{FIRST}"), number
        shown = _shown(home, [last.stem, "release"], pages=pages)
        yield [
            "1 product" if number == 1 else f"{number} products",
            *_asked(last, home, spent, f"{FIRST}"),
            *shown,
        ]


def _series(work: Path, product: str, people: int, releases: int, seed: int = 3) -> Path:
    """Write the snapshots of a series and its contract, and say where that is."""
    work.mkdir(parents=True)
    gone = people // 10
    everybody = census(people + gone * releases, seed).select("person_id", *QUASI_IDENTIFIERS, "occupation")
    everybody = everybody.with_columns(pl.col("person_id") + seed * 10**9)  # other products have other people
    for at, date in enumerate(_dates(releases)):
        everybody.slice(at * gone, people).write_parquet(work / f"{date}.parquet")
    m = 10 if people >= 1_000 else 3
    declared = census_contract() | {
        "product": product,
        "source": {"path": "{release}.parquet"},
        "releases": {"first": FIRST, "cron": "@daily", "last": FIRST + dt.timedelta(days=releases)},
        "principle": {"name": "m_invariance", "m": m, "on_ineligible": "counterfeit", "people_per_group": 2},
    }
    contract = work / f"{product}.yaml"
    contract.write_text(yaml.safe_dump(declared))
    return contract


def _dates(number: int) -> list[str]:
    return [f"{FIRST + dt.timedelta(days=days)}" for days in range(number)]


def _asked(contract: Path, home: Path, released: Spent, date: str) -> list[float]:
    """What a release took, and what it takes to find that nothing is due, and how the home stands."""
    nothing, status = _release(contract, home, date), _run("status", str(home))
    return [*_figures(released), nothing.processor, status.processor]


def _figures(spent: Spent) -> list[float]:
    return [spent.processor, spent.seconds, spent.memory]


def _release(contract: Path, home: Path, through: str) -> Spent:
    return _run("release", str(contract), "--home", str(home), "--through", through)


def _run(*words: str) -> Spent:
    return _watched([sys.executable, "-m", "republish", *words])


def _watched(command: Sequence[str]) -> Spent:
    return watched(command, MACHINE, dict(os.environ))


def _shown(home: Path, asset: Sequence[str], *, pages: int) -> list[float | None]:
    """What Dagster takes until it knows a home's products, and to answer what its pages ask."""
    if not pages:
        return [None] * len(SHOWN)
    with _server(home) as (ask, seconds):
        return [seconds, _seconds(ask, ALL_ASSETS), _seconds(ask, ONE_ASSET, {"path": asset})]


def _kilobytes(path: Path) -> float:
    return sum(file.stat().st_blocks for file in path.rglob("*")) / 2


def _seconds(ask: Ask, query: str, variables: Mapping[str, Any] | None = None) -> float:
    """Seconds until an answer is there, the last of three times."""
    for _ in range(3):
        began = time.perf_counter()
        ask(query, variables or {})
        seconds = time.perf_counter() - began
    return seconds


@contextmanager
def _server(home: Path) -> Iterator[tuple[Ask, float]]:
    """Dagster's server of a home: what asks it, and the seconds until it knew the home's assets."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["ui", "--home", str(home), "--port", str(port), "--only", "webserver"]
    command, began = [sys.executable, "-m", "republish", *words], time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        content = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"content-type": "application/json", "authorization": f"Bearer {token_of(Home(home))}"}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", content, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - this machine's
            found: dict[str, Any] = json.load(answer)
        if "errors" in found:
            raise ValueError(str(found["errors"])[:500])
        return found

    def knows_the_assets() -> bool:
        with suppress(OSError):
            return bool(ask("{ assetNodes { id } }", {})["data"]["assetNodes"])
        return False

    try:
        while not knows_the_assets():
            if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                raise TimeoutError(f"{home}: its pages do not answer")
            time.sleep(0.1)
        yield ask, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main(tables)
