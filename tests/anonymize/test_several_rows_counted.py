"""People with several rows: all tiny tables are released, and what is left of their values is counted.

The adversary knows everything but the values: who has which rows, when each was in the table, and in which
group it was, or in none. What they count has no line in common with what released the tables.
"""

import itertools
from collections import Counter
from fractions import Fraction

import polars as pl
import pytest

from benchmarks.series import contract_of
from tests.worlds import released_once

LETTERS = "abcdefgh"
DECLARED = {
    "product": "tiny",
    "series": "v1",
    "source": {"path": "{release}.csv"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
    "identifier": "person",
    "rows": "several",
    "row": "row",
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 9]}],
}
KEYS = tuple(f"key {number}".encode() for number in range(5))


def contract(m, values, most):
    """Where the new rows of a release are not eligible, all of them wait."""
    principle = {"name": "m_invariance", "m": m, "on_ineligible": "wait", "values_per_person": most}
    return contract_of(
        {**DECLARED, "sensitive": {"name": "ill", "values": list(LETTERS[:values])}, "principle": principle}
    )


def patterns(rows, values):
    """Every way to give rows values, but for the names of the values: each is of the first that are used."""

    def go_on(given, used):
        if len(given) == rows:
            yield given
            return
        for value in range(min(used + 1, values)):
            yield from go_on((*given, value), max(used, value + 1))

    yield from go_on((), 0)


def arrivals(shape, releases):
    """The releases in which each row is in the table: it comes once, and stays."""
    each = (itertools.combinations_with_replacement(range(releases), rows) for rows in shape)
    for first in itertools.product(*each):
        if min(map(min, first)) == 0:
            yield tuple(tuple(range(one, releases)) for one in itertools.chain.from_iterable(first))


def presences(shape, releases):
    """The same, of rows that also leave, and come back."""
    some = [
        one
        for size in range(1, releases + 1)
        for one in itertools.combinations(range(releases), size)
        if len(one) < releases or size == releases
    ]
    each = (itertools.combinations_with_replacement(some, rows) for rows in shape)
    for there in itertools.product(*each):
        if any(0 in one for person in there for one in person):
            yield tuple(itertools.chain.from_iterable(there))


def tables(shape, releases, values, when):
    """All tables of people with so many rows each: of each row person, value, and when it is there.

    Of those that are the same but for the order of people or of a person's rows, the first.
    """
    person = [number for number, rows in enumerate(shape) for _ in range(rows)]
    seen = set()
    for there in when(shape, releases):
        for given in patterns(sum(shape), values):
            table = tuple(zip(person, given, there, strict=True))
            if (named := least(table, shape)) not in seen:
                seen.add(named)
                yield table


def least(table, shape):
    """The least table among those that differ from this one by orders and by names of values."""
    people = [[row for row in table if row[0] == person] for person in range(len(shape))]
    orders = (one for one in itertools.permutations(people) if tuple(map(len, one)) == shape)
    ordered = (rows for one in orders for rows in itertools.product(*map(itertools.permutations, one)))
    return min(without_names(rows) for rows in ordered)


def without_names(people):
    """Of each person's rows when they are there, and their values, which are numbered as they come."""
    number = {}
    return tuple(
        tuple((there, number.setdefault(value, len(number))) for _, value, there in rows) for rows in people
    )


def published(table, of, key, made):
    """Of each release, the group of each row that is published, by row, and the values of each group."""
    releases = 1 + max(release for *_, there in table for release in there)
    snapshots = []
    for release in range(releases):
        rows = [
            (f"P{person}", f"R{row}", (3 * person + row) % 10, LETTERS[value])
            for row, (person, value, there) in enumerate(table)
            if release in there
        ]
        columns = {"person": pl.String, "row": pl.String, "age": pl.Int64, "ill": pl.String}
        snapshots.append((f"2024-0{release + 1}-01", pl.DataFrame(rows, columns, orient="row")))
    seen = []
    for one in released_once(made, snapshots, of, key):
        group = one.people.join(one.candidate.linkage, on="pseudonym").select("row_name", "group_id")
        held: dict[int, list[str]] = {}
        for number, value in one.candidate.published["microdata"].select("group_id", "ill").rows():
            held.setdefault(number, []).append(value)
        seen.append(({int(row[1:]): number for row, number in group.rows()}, held))
    return seen


class Seen:
    """What an adversary makes of releases, who knows everything but the values."""

    def __init__(self, table, releases, values):
        self.person = [person for person, *_ in table]
        self.domain = set(LETTERS[:values])
        self.signatures = [[set() for _ in releases] for _ in range(1 + max(self.person))]
        self.signature, missed, self.groups = {}, {}, []
        had = [set() for _ in self.signatures]
        for number, (group, held) in enumerate(releases):
            for row, its in group.items():
                signature = frozenset(held[its])
                assert self.signature.setdefault(row, signature) == signature
                had[self.person[row]].add(signature)
            for row, (person, _, there) in enumerate(table):
                if number in there and row not in group:
                    # Its value is in no signature of its person, or in one, beside another value.
                    missed.setdefault(row, set()).update(*had[person])
            for its in held:
                self.groups.append([row for row, where in group.items() if where == its])
        self.had = had
        # Rows of a person with equal signatures are taken for rows with one value: a unit.
        self.units: dict[tuple[int, object], list[int]] = {}
        for row, person in enumerate(self.person):
            self.units.setdefault((person, self.signature.get(row, row)), []).append(row)
        self.may = {
            unit: set(unit[1] if isinstance(unit[1], frozenset) else self.domain).difference(
                *(missed.get(row, ()) for row in rows)
            )
            for unit, rows in self.units.items()
        }
        self.unit = {row: unit for unit, rows in self.units.items() for row in rows}

    def worlds(self):
        """Count the ways to give values to all that is published, by unit; and in how many it has each."""
        shown = [unit for unit in self.units if isinstance(unit[1], frozenset)]
        counted, number = Counter(), 0
        for given in itertools.product(*(sorted(self.may[unit]) for unit in shown)):
            world = dict(zip(shown, given, strict=True))
            if all(len({world[self.unit[row]] for row in rows}) == len(rows) for rows in self.groups):
                counted.update(world.items())
                counted.update({(person, value) for (person, _), value in world.items()})
                number += 1
        return counted, number

    def ever(self):
        """The largest probability that a person ever had a value, by all rows that were published together.

        What the others may be, rows that nobody published, follows from no release but by their absence: each
        of them counts by itself.
        """
        counted, number = self.worlds()
        assert number, "nothing fits what is published"
        pairs = itertools.product(range(len(self.had)), self.domain)
        published = [Fraction(counted[pair], number) for pair in pairs]
        missed = [
            Fraction(1, min(map(len, [self.may[unit], *self.had[unit[0]]])))
            for unit in self.units
            if not isinstance(unit[1], frozenset)
        ]
        return max([*published, *missed])


def faults(table, of, key, made):
    """What is wrong with the releases of a table, in words; nothing if every promise is kept."""
    m, values = of.principle.m, len(of.sensitive.values)
    releases = published(table, of, key, made)
    seen = Seen(table, releases, values)
    wrong = []
    for had in seen.had:
        if len(had) > of.principle.values_per_person:
            wrong.append("more signatures than values_per_person")
        if sum(map(len, had)) > len(set().union(*had)):
            wrong.append("two signatures share a value")
        if any(len(signature) < m for signature in had):
            wrong.append("a signature of less than m values")
    if any(len({table[row][1] for row in rows}) > 1 for rows in seen.units.values()):
        wrong.append("a signature has two values of its person")
    if (likely := seen.ever()) > Fraction(1, m):
        wrong.append(f"ever had it: {likely}")
    return wrong


DESIGNS = {
    "one value, three rows for one": (2, 4, 1, (3, 1), 1, arrivals),
    "one value, two rows each": (2, 5, 1, (2, 2), 1, arrivals),
    "one value, two releases": (2, 4, 1, (2, 2), 2, arrivals),
    "one value, five to have": (2, 5, 1, (2, 2), 2, arrivals),
    "two values, one release": (2, 6, 2, (3, 2), 1, arrivals),
    "two values, two releases": (2, 6, 2, (3, 1), 2, arrivals),
    "two values, seven to have": (2, 7, 2, (3, 2), 2, arrivals),
    "rows that leave and return": (2, 4, 1, (2, 1), 3, presences),
    "three releases": (2, 6, 2, (3, 1), 3, arrivals),
    "three values each": (2, 8, 3, (4, 2), 1, arrivals),
    "three people": (3, 6, 1, (2, 1, 1), 2, arrivals),
}
"""m, values of the domain, values per person, rows of each person, releases, and when rows are there."""


@pytest.mark.slow("counts every world")
@pytest.mark.parametrize("design", DESIGNS)
def test_of_all_tiny_tables_nobody_ever_had_a_value_more_likely_than_one_in_m(design):
    m, values, most, shape, releases, when = DESIGNS[design]
    of, made, begun = contract(m, values, most), {}, {}
    every = list(tables(shape, releases, values, when))
    step = max(1, len(every) // 60)
    for table in every[::step]:
        # Tables that are the same until the last release have one key: what they begin with is made once.
        before = tuple(
            (value, *(one for one in there if one < max(1, releases - 1))) for _, value, there in table
        )
        wrong = faults(table, of, KEYS[begun.setdefault(before, len(begun)) % len(KEYS)], made)
        assert not wrong, (table, wrong)
    assert len(every) > 6
    assert len(made) >= len(every[::step])
