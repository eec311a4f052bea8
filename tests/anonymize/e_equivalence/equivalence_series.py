"""Random series of releases, and what an adversary with every identity knows of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from republish.anonymize.attack.cuts import cuts
from republish.anonymize.attack.input import forged_tuples
from republish.anonymize.attack.stays import follow_stays
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.contract import Contract
from republish.anonymize.e_equivalence import graph
from republish.anonymize.e_equivalence import release as steps
from republish.anonymize.e_equivalence.parameters import smallest_safe_cut
from republish.anonymize.e_equivalence.release import release
from republish.anonymize.formats import ANATOMY
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State
from republish.anonymize.promise.attacked import ReleaseAttack
from tests.attacks import attack_releases
from tests.clinic import CLINIC
from tests.series import entered, parse_past_the_check

VALUES = [f"disease {letter}" for letter in "abcdefgh"]
GROUPS = 10**6
"""Partitions of different releases have different numbers: release x this + group."""


def contract(m=2, e=2, values=6, **principle):
    return parse_past_the_check(
        {
            **CLINIC,
            "product": "hospital",
            "identifier": "patient",
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 99]},
                {"name": "sex", "kind": "category", "order": ["F", "M"]},
            ],
            "sensitive": {"name": "disease", "values": VALUES[:values]},
            "principle": {
                "name": "e_equivalence",
                "m": m,
                "e": e,
                "on_ineligible": "counterfeit",
                **principle,
            },
        }
    )


@dataclass(frozen=True)
class Life:
    """How a table changes from release to release."""

    seed: int
    people: int = 24
    releases: int = 6
    churn: float = 0.2
    """Share of the people who leave each time; as many come."""
    back: float = 0.3
    """Share of those who come that were there before."""
    change: float = 0.0
    """Share of all values that are drawn anew each time."""
    values: int = 6
    skewed: bool = False

    def snapshots(self):
        rng = np.random.default_rng(self.seed)
        everybody = self.people * 6
        value = rng.integers(0, self.values, everybody)
        if self.skewed:
            value = np.minimum(rng.geometric(0.4, everybody) - 1, self.values - 1)
        age, sex = rng.integers(0, 100, everybody), rng.choice(["F", "M"], everybody)
        here = np.arange(everybody) < self.people
        ever = here.copy()
        for _ in range(self.releases):
            ids = np.flatnonzero(here)
            yield pl.DataFrame(
                {
                    "patient": [f"p{n:04d}" for n in ids],
                    "age": age[ids],
                    "sex": sex[ids],
                    "disease": [VALUES[v] for v in value[ids]],
                }
            )
            moved = min(max(1, int(self.people * self.churn)), len(ids) - 1)
            here[rng.choice(ids, moved, replace=False)] = False
            gone, fresh = np.flatnonzero(ever & ~here), np.flatnonzero(~ever)
            returning = min(int(rng.binomial(moved, self.back)), len(gone))
            here[rng.choice(gone, returning, replace=False)] = True
            here[rng.choice(fresh, min(moved - returning, len(fresh)), replace=False)] = True
            ever |= here
            redrawn = rng.random(everybody) < self.change
            value = np.where(redrawn, rng.integers(0, self.values, everybody), value)


@dataclass(frozen=True)
class Made:
    """A release, with what it was made from."""

    people: pl.DataFrame
    """T(n) under our own column names: `identifier`, `pseudonym`, `qi_0`, …, `value`."""
    contract: Contract
    before: State
    candidate: Candidate
    """With `pseudonym`, `bucket_id`, `group_id` in its linkage."""


def publish(snapshots, contracts, make=release, key=b"the key of the tests"):
    """The releases of a series, in order; one contract for all, or one for each."""
    state = State.empty()
    made = []
    for number, snapshot in enumerate(snapshots, start=1):
        declared = contracts[number - 1] if isinstance(contracts, list) else contracts
        people = entered(snapshot, declared)

        def draw(purpose, number=number):
            return generator(key, "hospital", "v1", str(number), purpose)

        candidate = make(people.drop("identifier"), declared, state, number, draw)
        made.append(Made(people, declared, state, candidate))
        state = candidate.state
    return made


def attack_each(made, promises=None, **options) -> Iterator[ReleaseAttack]:
    """What the attack on each release found, by default on what their contracts promise."""
    return attack_releases(((one.contract, one.people, one.candidate) for one in made), promises, **options)


def cuts_each(made) -> Iterator[pl.DataFrame]:
    """The smallest cuts that the attack on each release counts, without the rest of the attack."""
    stays = None
    for number, one in enumerate(made, start=1):
        tables = ANATOMY.internal(one.candidate.published, one.contract)
        published = ANATOMY.read(tables, one.contract)
        people = knowledge_table(one.people.rename({PSEUDONYM: "person"}), one.contract)
        hosts = one.candidate.linkage.select("group_id", person=PSEUDONYM)
        forged = forged_tuples(published, people, hosts, ANATOMY, tables, one.contract, number)
        present = people.select("person", "value").join(hosts, on="person")
        stays = follow_stays(present, forged, published.values, number, stays, whole_buckets=True)
        yield cuts(stays, number, smallest_safe_cut(one.contract.principle.e))


def knowledge(made):
    """`partition`, `person` and `partition`, `value`, `tuples`: what is published, with all identities.

    Counterfeits are persons of their own; one stays the same as long as it stays.
    """
    members, contents = [], []
    for number, one in enumerate(made, start=1):
        partition = (pl.col("group_id") + number * GROUPS).alias("partition")
        hosted = one.candidate.linkage.join(one.people, on=PSEUDONYM)
        members.append(hosted.select(partition, person="identifier"))
        members.append(_counterfeits(one.candidate).select(partition, "person"))
        held = one.candidate.published["sensitive"]
        contents.append(held.select(partition, value="disease", tuples="count"))
    return pl.concat(members), pl.concat(contents)


def _counterfeits(candidate):
    groups = candidate.linkage.select("bucket_id", "group_id").unique()
    kept = candidate.state.tables["counterfeits"].join(groups, on="bucket_id")
    alike = ["bucket_id", "value", "node", "qi_0", "qi_1"]
    numbered = kept.with_columns(copy=pl.int_range(pl.len()).over(alike))
    return numbered.select("group_id", person=pl.concat_str(*alike, "copy", separator="/"))


def take_returning_people_for_new_ones(monkeypatch):
    """Break the algorithm: each person who returns is an edge again, as if nobody knew them."""
    real = graph.advance

    def as_new(opening, people, counterfeits, cuts):
        graphs = real(opening, people, counterfeits, cuts)
        return replace(graphs, present=graphs.present.with_columns(counts=True))

    monkeypatch.setattr(steps, "advance", as_new)
    monkeypatch.setattr(graph, "_without_edges_of", lambda _absent, before, _memory, _e: before)
