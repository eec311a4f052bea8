"""Small series of releases to attack, made by the publisher under test."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymize.contract import parse_contract
from anonymize.m_invariance.release import release
from anonymize.randomness import generator
from anonymize.state import State

VALUES = [f"disease {letter}" for letter in "abcdefgh"]


def contract(m=3, values=VALUES, **principle):
    return parse_contract(
        {
            "product": "hospital",
            "series": "v1",
            "source": {"path": "{release}.parquet"},
            "releases": {"first": dt.date(2024, 1, 1), "cron": "0 0 1 1 *"},
            "identifier": "patient",
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 99]},
                {"name": "zipcode", "kind": "number", "domain": [1000, 9999]},
                {"name": "sex", "kind": "category", "order": ["F", "M"]},
            ],
            "sensitive": {"name": "disease", "values": list(values)},
            "principle": {"name": "m_invariance", "m": m, "on_ineligible": "counterfeit", **principle},
        }
    )


def people(rng, count, first=0, values=VALUES):
    return pl.DataFrame(
        {
            "patient": [f"p{n:05d}" for n in rng.permutation(np.arange(first, first + count))],
            "age": rng.integers(20, 90, count),
            "zipcode": rng.integers(1000, 1100, count) * 9,
            "sex": rng.choice(["F", "M"], count),
            "disease": rng.choice(values, count),
        }
    )


def snapshots(seed=0, count=240, releases=3, churn=0.2, values=VALUES):
    """T(1), T(2), …: some people leave and others come, some of the departed come back."""
    rng = np.random.default_rng(seed)
    everybody = people(rng, count * releases, values=values)
    here = np.zeros(len(everybody), dtype=bool)
    here[:count] = True
    for _ in range(releases):
        yield everybody.filter(pl.Series(here)).sample(fraction=1, shuffle=True, seed=seed)
        moved = max(1, int(count * churn))
        here[rng.choice(np.flatnonzero(here), moved, replace=False)] = False
        here[rng.choice(np.flatnonzero(~here), moved, replace=False)] = True


@dataclass(frozen=True)
class Release:
    snapshot: pl.DataFrame
    tables: dict[str, pl.DataFrame]
    linkage: pl.DataFrame


def publish(snapshots, contract, key=b"secret", series="v1"):
    """The releases of a series, in order."""
    state, released = State.empty(pl.String()), []
    for number, snapshot in enumerate(snapshots, start=1):
        named = snapshot.with_columns(pl.col(contract.identifier).cast(pl.Binary).alias("pseudonym"))

        def draw(purpose, number=number):
            return generator(key, contract.product, series, str(number), purpose)

        candidate = release(named, contract, state, number, draw)
        state = candidate.state
        released.append(Release(snapshot, dict(candidate.published), candidate.linkage))
    return released
