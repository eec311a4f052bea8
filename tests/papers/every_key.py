"""The adversary who knows the algorithm, and asks which microdata would be published like this.

Only for tiny instances: the publisher is run on every possible table, under many keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import polars as pl

from republish.anonymize.attack.surjections import Contents, Row
from republish.anonymize.formats.published import Published
from tests.papers.surjections import posterior, rebuild

Publisher = Callable[[Sequence[pl.DataFrame], bytes], Hashable | None]
"""From the tables T(1), …, T(n) (`person`, `value`, quasi-identifiers as codes) and a key to what is
published, in a form that can be compared; None if the publisher refuses."""


@dataclass(frozen=True)
class AlgorithmAware:
    """What knowing the algorithm adds."""

    before: Mapping[Row, Mapping[Hashable, Fraction]]
    """The probability of every value of every row, all reasonable surjections being equally likely."""
    after: Mapping[Row, Mapping[Hashable, Fraction]]
    """The same, each possible table weighed by how often it is published like this."""
    hits: Mapping[frozenset, int]
    """Per possible table (as `(row, value)` pairs), the keys under which it is published like this."""
    keys: int
    """Keys tried."""

    @property
    def reproducing(self) -> int:
        """How many of the possible tables are published like this under some key."""
        return sum(count > 0 for count in self.hits.values())

    def risk(self, row: Row) -> tuple[Fraction, Fraction]:
        """The probability of a row's true value, before and after."""
        before, after = (found[row].get(row[1], Fraction(0)) for found in (self.before, self.after))
        return before, after

    def error(self, row: Row) -> float:
        """The standard error of the probability after, for the keys being a sample of all there are."""
        counts = {True: 0.0, False: 0.0}
        spread = {True: 0.0, False: 0.0}
        for instance, count in self.hits.items():
            is_true = (row, row[1]) in instance
            counts[is_true] += count
            spread[is_true] += count * (1 - count / self.keys)
        right, wrong = counts[True], counts[False]
        return sqrt(wrong**2 * spread[True] + right**2 * spread[False]) / (right + wrong) ** 2


def algorithm_aware_posterior(
    people: pl.DataFrame,
    releases: Sequence[Published],
    publish: Publisher,
    keys: Iterable[bytes],
    *,
    invariant: bool = True,
) -> AlgorithmAware:
    """Weigh every microdata series that fits what was published by how often it is published so.

    The weight of a table is the share of keys under which the publisher, run on it, publishes exactly
    what was published; keys being random, it is an estimate, and the same keys serve every table.

    Parameters
    ----------
    people
        `release` (counted from 1), `person`, `value` (the true ones), one column of codes per
        quasi-identifier.
    releases
        T*(1), …, T*(n), for the tables that fit them.
    publish
        The publisher. It is run on the true tables first: its result under the first key is what was
        published, and has to be what `releases` were read from.
    keys
        Secret keys to try. The first is the one the true tables were published under.
    invariant
        As for `reconstructions`.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 1.
    """
    keys = list(keys)
    true = people.select("person", "value").unique().rows()
    observed = publish(_tables(people, {row: row[1] for row in true}), keys[0])
    instances = reconstructions(people, releases, invariant=invariant)
    hits = {instance: _hits(people, dict(instance), publish, keys, observed) for instance in instances}
    return AlgorithmAware(
        before=posterior(instances),
        after=posterior({instance: count for instance, count in hits.items() if count}),
        hits=hits,
        keys=len(keys),
    )


def _hits(
    people: pl.DataFrame,
    instance: Mapping[Row, Hashable],
    publish: Publisher,
    keys: Sequence[bytes],
    observed: Hashable,
) -> int:
    tables = _tables(people, instance)
    return Counter(publish(tables, key) for key in keys)[observed]


def _tables(people: pl.DataFrame, instance: Mapping[Row, Hashable]) -> list[pl.DataFrame]:
    """The tables in which every row has the value of an instance."""
    values = [instance[row] for row in people.select("person", "value").iter_rows()]
    guessed = people.with_columns(pl.Series("value", values, people.schema["value"]))
    releases = people["release"].unique().sort()
    return [guessed.filter(release=release).drop("release") for release in releases]


def reconstructions(
    people: pl.DataFrame, releases: Sequence[Published], *, invariant: bool
) -> dict[frozenset, int]:
    """Every possible microdata instance, with the number of reasonable surjections that rebuild it.

    Parameters
    ----------
    people
        `release` (counted from 1), `person`, `value`, one column of codes per quasi-identifier: who was
        in which T(j). A person with two values is two rows of B(n), each with its own lifespan.
    releases
        T*(1), …, T*(n).
    invariant
        As for `rebuild`.
    """
    present = (people.filter(pl.col("release") == number) for number in range(1, len(releases) + 1))
    return rebuild(
        [
            (_covering(here, published), Contents.of(published))
            for here, published in zip(present, releases, strict=True)
        ],
        invariant=invariant,
    )


def _covering(present: pl.DataFrame, published: Published) -> dict[Row, list]:
    """The groups that cover each row."""
    names = [column.removesuffix("_low") for column in published.boxes.columns if column.endswith("_low")]
    pairs = present.join(published.boxes, how="cross").filter(
        pl.col(f"{name}_low").le(pl.col(name)) & pl.col(name).le(pl.col(f"{name}_high")) for name in names
    )
    hosts: dict[Row, list] = {row: [] for row in present.select("person", "value").iter_rows()}
    for person, value, group in pairs.select("person", "value", "group_id").unique().sort("group_id").rows():
        hosts[person, value].append(group)
    return hosts
