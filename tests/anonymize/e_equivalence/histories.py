"""One bucket through random releases, without a planner: anybody may come, go and come back."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.buckets.memory import Memory
from republish.anonymize.e_equivalence.forget import merge_old_nodes
from republish.anonymize.e_equivalence.graph import Graphs, advance, open_graphs
from republish.anonymize.principle.state import State

EVERYTHING_FITS = pl.lit(value=True)
"""Every counterfeit could be somebody's under the contract as it is."""


@dataclass
class History:
    """A random history, and what the graphs say of it, release by release."""

    seed: int
    releases: int = 8
    people: int = 14
    back: bool = True
    """Whether people come back."""
    most: int | None = None
    """Nodes above which old ones are merged; without it, none are."""
    e: int = 3
    stays: float = 0.7
    comes: float = 0.15

    def presence(self):
        """bool[releases, people]"""
        rng = np.random.default_rng(self.seed)
        people = self.people if self.back else self.people * self.releases
        here, ever, rows = np.zeros(people, bool), np.zeros(people, bool), []
        for number in range(self.releases):
            stay = rng.random(people) < rng.choice([self.stays, 0.95, 0.1], p=[0.8, 0.1, 0.1])
            come = rng.random(people) < self.comes
            if not self.back:
                come &= (np.arange(people) // self.people == number) & ~ever
                come |= (np.arange(people) // self.people == number) & (rng.random(people) < 0.3)
            here = np.where(here, stay, come)
            ever |= here
            rows.append(here)
        return np.array(rows)

    def follow(self):
        """For each release: the opening, the tuples inserted, the graphs after it."""
        graphs = Graphs.of(State.empty(), pl.String())
        memory = Memory.of(State.empty(), pl.String())
        none = pl.DataFrame(schema={"bucket_id": pl.Int32, "value": pl.String})
        seen = np.zeros(self.presence().shape[1], bool)
        for number, here in enumerate(self.presence(), start=1):
            opening = open_graphs(graphs, _frame(here & seen), memory.people, number, self.e, EVERYTHING_FITS)
            graphs = advance(opening, _frame(here & ~seen), none, pl.DataFrame(schema=graphs.cuts.schema))
            if self.most:
                graphs = merge_old_nodes(graphs, self.e, self.most)
            memory = memory.after(_frame(here), memory.buckets, number)
            yield opening, int((here & ~seen).sum()), graphs
            seen |= here

    def settled(self):
        """The smallest cut each release adds, None where it adds none."""
        return [
            int(opening.cuts(1)[0]) + inserted if inserted or opening.connected(1)[0] else None
            for opening, inserted, _ in self.follow()
        ]

    def knowledge(self):
        """`partition`, `person` and `partition`, `value`, `tuples`."""
        partition, person = np.nonzero(self.presence())
        members = pl.DataFrame({"partition": partition, "person": person})
        contents = members.group_by("partition").agg(pl.len().cast(pl.Int64).alias("tuples"))
        return members, contents.with_columns(value=pl.lit("one of the signature"))


def _frame(who):
    people = np.flatnonzero(who)
    return pl.DataFrame(
        {
            "pseudonym": [b"%d" % person for person in people],
            "bucket_id": [0] * len(people),
            "value": ["a value"] * len(people),
        },
        schema={"pseudonym": pl.Binary, "bucket_id": pl.Int32, "value": pl.String},
    )
