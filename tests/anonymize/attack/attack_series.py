"""Small series of releases to attack, made by the publisher under test."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.formats.published import Published
from republish.anonymize.m_invariance.release import release
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import attack as attack_release
from republish.orchestration.snapshots.sources import enter
from tests.clinic import CLINIC
from tests.series import make, parse_past_the_check

VALUES = [f"disease {letter}" for letter in "abcdefgh"]


def groups_of(values):
    """A release of groups, each given as its values; nothing is said of quasi-identifiers."""
    rows = [(number, value) for number, some in enumerate(values) for value in some]
    tuples = pl.DataFrame(rows, schema=["group_id", "value"], orient="row")
    counted = tuples.group_by("group_id", "value", maintain_order=True).agg(tuples=pl.len())
    return Published(pl.DataFrame(), counted, pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}))


def contract(m=3, values=VALUES, **principle):
    return parse_past_the_check(
        {
            **CLINIC,
            "product": "hospital",
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
    """Under the publisher's names; `person` too, if people go by another name than their identifier."""
    tables: dict[str, pl.DataFrame]
    linkage: pl.DataFrame


def publish(snapshots, contracts, key=b"secret", series="v1"):
    """The releases of a series, in order; one contract for all, or one for each."""
    state, released = State.empty(), []
    for number, snapshot in enumerate(snapshots, start=1):
        contract = contracts[number - 1] if isinstance(contracts, list) else contracts

        def draw(purpose, number=number, product=contract.product):
            return generator(key, product, series, str(number), purpose)

        candidate = make(release, snapshot, contract, state, number, draw)
        state = candidate.state
        released.append(Release(snapshot, dict(candidate.published), candidate.linkage))
    return released


def attack_each(
    releases, declared, *, promises=None, release_format=None, linked=True, held_back=0, **options
):
    """What the attack on each release of a series found, one after another.

    `promises` are by default those of the contract, the same in every release; `held_back` is a number, or
    one for each release.
    """
    knowledge = None
    releases, principle = list(releases), principle_of(declared)
    promises = promises or [principle.promise(declared.principle)] * len(releases)
    for number, one in enumerate(releases, start=1):
        found = attack_release(
            declared,
            release_format or principle.format(declared),
            one.tables,
            attacked_people(one.snapshot, declared),
            promises[:number],
            knowledge,
            linkage=_by_person(one.linkage, declared) if linked else None,
            held_back=held_back if isinstance(held_back, int) else held_back[number - 1],
            **options,
        )
        knowledge = found.knowledge
        yield found


def attack_series(releases, declared, **options):
    """What the attack on the last release of a series found, after those on all before it."""
    *_, last = attack_each(releases, declared, **options)
    return last


def broken(found):
    """The promises that do not hold."""
    return set(found.findings.filter(~pl.col("holds"))["promise"])


def attacked_people(snapshot, declared):
    """The truth as attacks take it: our own column names, and `person`, by default the identifier."""
    people = enter(snapshot, declared)
    return people.with_columns(
        snapshot["person"] if "person" in snapshot.columns else people["identifier"].alias("person")
    )


def _by_person(linkage, declared):
    if "person" in linkage.columns:
        return linkage.select("person", "group_id")
    return linkage.select(pl.col(declared.identifier).alias("person"), "group_id")
