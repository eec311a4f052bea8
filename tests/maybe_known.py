"""Series in which most people have a value that may be known, `none`; and an adversary who counts tables.

The adversary shares nothing with the code that makes releases: each table of people and values is tried.
"""

from collections import Counter
from fractions import Fraction
from functools import partial
from math import perm, prod

import numpy as np
import polars as pl

from republish.anonymize.principles import parse_contract, principle_of
from tests import series
from tests.clinic import CLINIC

SICK = ("flu", "gout", "mumps", "asthma", "angina", "scurvy", "HIV", "ulcer")
NONE = "none"


def contract(principle, **sensitive):
    """A contract over age and zipcode in which `none` may be known, unless `sensitive` says otherwise."""
    return parse_contract(
        {
            **CLINIC,
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 120]},
                {"name": "zipcode", "kind": "number", "domain": [0, 9999]},
            ],
            "sensitive": {"name": "value", "not_sensitive": [NONE], **sensitive},
            "principle": principle,
        }
    )


def tables(rng, people=60, releases=4, none=0.6, churn=0.2, change=0.05, sick=SICK):
    """Snapshots of a table that stays as large: people leave, some come back, some have another value."""

    def value():
        return NONE if rng.random() < none else sick[rng.integers(len(sick))]

    here = {i: [int(rng.integers(121)), int(rng.integers(10_000)), value()] for i in range(people)}
    gone, ever = {}, people
    for number in range(releases):
        if number:
            for i in [i for i in here if rng.random() < churn]:
                gone[i] = here.pop(i)
            for i in [i for i in gone if rng.random() < churn]:
                here[i] = gone.pop(i)
            for row in here.values():
                if rng.random() < change:
                    row[2] = value()
            while len(here) < people:
                here[ever] = [int(rng.integers(121)), int(rng.integers(10_000)), value()]
                ever += 1
        yield table({f"p{i}": row for i, row in here.items()})


def table(people):
    """A snapshot of people with their age, zipcode and value."""
    rows = [(person, *row) for person, row in people.items()]
    return pl.DataFrame(rows, schema=["person", "age", "zipcode", "value"], orient="row")


released = partial(series.released, skips=True)
"""`(contract, people, candidate)` of each snapshot that is not refused."""


def groups(declared, people, candidate):
    """`{group_id: (people, values)}` of a release: who is in each group, and what it publishes."""
    release_format = principle_of(declared).format(declared)
    tables = release_format.internal(candidate.published, declared)
    values = release_format.read(tables, declared).values
    hosted = people.select("pseudonym", "identifier").join(candidate.linkage, on="pseudonym")
    members = dict(hosted.group_by("group_id").agg("identifier").iter_rows())
    held = {}
    for group, value, tuples in values.iter_rows():
        held.setdefault(group, Counter())[value] += tuples
    return {group: (tuple(members.get(group, ())), held[group]) for group in held}


def probabilities(releases):
    """Each person's values and their shares of all tables that fit what was published, found by trying each.

    Arguments as for `every_table`.
    """
    found = every_table(releases)
    people = {person for one in found for person in one}
    counted = {person: Counter(one[person].split()[0] for one in found) for person in people}
    return {
        person: {value: n / len(found) for value, n in values.items()} for person, values in counted.items()
    }


def every_table(releases):
    """Every `{person: value}` that fits what was published, `none` by its parts.

    Parameters
    ----------
    releases
        For each, a list of groups `(people, values)`: who is in each, and how often it publishes which value.
        Nobody's value changes.

    The adversary knows that `none` was split by lot: counted are tables with parts, which are numbered in
    each group; groups of the same values have the same parts.
    """
    left, places = {}, {}
    for number, some in enumerate(releases):
        for at, (members, values) in enumerate(some):
            sensitive = Counter({value: often for value, often in values.items() if value != NONE})
            known, base = values[NONE], min(sensitive.values(), default=1)
            whole = {f"{NONE} {part}": base for part in range(known // base)}
            left[number, at] = sensitive + Counter(whole)
            for person in members:
                places.setdefault(person, []).append((number, at))
    order = sorted(places, key=lambda person: (-len(places[person]), person))
    found, chosen = [], {}

    def place(position):
        if position == len(order):
            found.append(dict(chosen))
            return
        person = order[position]
        for value in set.intersection(*({v for v, n in left[at].items() if n} for at in places[person])):
            for at in places[person]:
                left[at][value] -= 1
            chosen[person] = value
            place(position + 1)
            for at in places[person]:
                left[at][value] += 1

    place(0)
    return found


def without_numbers(releases):
    """Each person's values and their probabilities, all assignments of published rows being equally likely.

    Arguments as for `every_table`; here rows of `none` have no numbers. In a group with n rows of a value, k
    people of whom have it, each table can be assigned in n (n - 1) … (n - k + 1) ways, and counterfeits in as
    many ways whatever the table is.
    """
    groups = [one for release in releases for one in release]
    order = sorted({person for members, _ in groups for person in members})
    own = {person: [at for at, (members, _) in enumerate(groups) if person in members] for person in order}
    taken, chosen, weights = [Counter() for _ in groups], {}, {person: Counter() for person in order}

    def place(position):
        if position == len(order):
            ways = prod(
                perm(values[value], often)
                for (_, values), has in zip(groups, taken, strict=True)
                for value, often in has.items()
            )
            for person, value in chosen.items():
                weights[person][value] += ways
            return
        person = order[position]
        for value in set.intersection(*(set(groups[at][1]) for at in own[person])):
            if all(taken[at][value] < groups[at][1][value] for at in own[person]):
                for at in own[person]:
                    taken[at][value] += 1
                chosen[person] = value
                place(position + 1)
                for at in own[person]:
                    taken[at][value] -= 1

    place(0)
    return {
        person: {value: Fraction(ways, counted.total()) for value, ways in counted.items()}
        for person, counted in weights.items()
    }


def random(seed):
    """A generator."""
    return np.random.default_rng(seed)
