"""Thirty ways to break a table of another tool, each convicted, and thirty honest tables, each acquitted.

The counts stand in docs/measured/audits.md.
"""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from republish.anonymize.errors import PublishedFolderError
from tests.orchestration.audit.bench import (
    PEOPLE,
    SETS,
    SIZE,
    SPELLINGS,
    TOWNS,
    VALUES,
    audited,
    table,
)

BROKEN, HONEST = {}, {}


def broken(why, convicted_for, spellings=None):
    """Let a function that makes a table be a way to break one; `convicted_for` is a promise, or a message."""

    def note(make):
        BROKEN[why] = make, convicted_for, spellings or [*SPELLINGS]
        return make

    return note


def honest(why, spellings=None):
    def note(make):
        HONEST[why] = make, spellings or [*SPELLINGS]
        return make

    return note


def groups(one):
    """The rows of each group of a release."""
    return [[row for row in one.rows if row.group == n] for n in range(PEOPLE // SIZE)]


def by_rank(one, places, key=lambda row: row.age):
    """The rows of each group so that the one at each place is that of this rank; groups shuffled."""
    parts = [[sorted(part, key=key)[place] for place in places] for part in groups(one)]
    random.Random(5).shuffle(parts)
    one.rows[:] = [row for part in parts for row in part]


def swap(one, person, value):
    """Give somebody another value, in the truth and in the table."""
    for row in (*one.rows, *one.truth):
        if row.name == person:
            row.value = value


def as_one(one, number, value="flu"):
    for row in groups(one)[number]:
        swap(one, row.name, value)


def person_at(one, group, n=0):
    return sorted(groups(one)[group], key=lambda row: row.age)[n]


# One release, with what k and l say.


@broken("a class of three where four are promised", "k-anonymity")
def _():
    tried = table(k=4)
    gone = person_at(tried.first, 3).name
    for rows in (tried.first.rows, tried.first.truth):
        rows[:] = [row for row in rows if row.name != gone]
    return tried


@broken("one row with a wider age than the others of its class", "k-anonymity")
def _():
    tried = table(k=4)
    person_at(tried.first, 3).low -= 1
    return tried


@broken("one row with a town more than the others of its class, between theirs", "k-anonymity")
def _():
    tried = table(k=4)
    row = next(row for row in tried.first.rows if row.towns == ["Aldorf", "Celle"] or row.group == 3)
    assert row.towns == ["Aldorf", "Dornau"]
    row.towns = ["Aldorf", "Birk", "Dornau"]
    return tried


@broken("one row suppressed in one column", "k-anonymity")
def _():
    tried = table(k=4)
    person_at(tried.first, 3).towns = ["*"]
    return tried


@broken("one row whose age is missing", "k-anonymity")
def _():
    tried = table(k=4)
    person_at(tried.first, 3).cell = "NA"
    return tried


@broken("one row with its exact age", "k-anonymity")
def _():
    tried = table(k=4)
    row = person_at(tried.first, 3)
    row.cell = str(row.age)
    return tried


@broken("everybody with the exact age", "k-anonymity")
def _():
    tried = table(k=4)
    for row in tried.first.rows:
        row.low = row.high = row.age
    return tried


@broken("a class with one value", "l-diversity")
def _():
    tried = table(l=2)
    as_one(tried.first, 4)
    return tried


@broken("a class with one value in two spellings", "l-diversity")
def _():
    tried = table(l=2)
    as_one(tried.first, 4)
    person_at(tried.first, 4).shown = "Flu "
    return tried


@broken("a class with one code, with and without a leading zero", "l-diversity")
def _():
    tried = table(l=2)
    as_one(tried.first, 4, "7")
    person_at(tried.first, 4, 1).shown = "07"
    person_at(tried.first, 4, 2).shown = "7.0"
    return tried


@broken("a class with one value and signs that nobody sees", "l-diversity")
def _():
    tried = table(l=2)
    as_one(tried.first, 4)
    person_at(tried.first, 4).shown = "f\u00adlu"
    return tried


@broken("a column of classes that unites rows with other cells", "l-diversity")
def _():
    tried = table(l=2)
    as_one(tried.first, 4)
    for row in tried.first.rows:
        row.more["CLASS"] = row.group // 2
    tried.mapping["group"] = "CLASS"
    return tried


@broken("a row without a value", "published entries")
def _():
    tried = table(k=2)
    person_at(tried.first, 4).shown = ""
    return tried


@broken("means in place of ages", PublishedFolderError, ["dash"])
def _():
    tried = table(k=4)
    for part in groups(tried.first):
        for row in part:
            row.cell = f"{sum(row.age for row in part) / SIZE + 0.25:.2f}"
    return tried


@broken("people whom no cell covers", "coverage")
def _():
    tried = table(k=4)
    for row in tried.first.rows:
        row.low += 1
    return tried


@broken("people in gaps between towns", "coverage")
def _():
    tried = table(k=4)
    for row in groups(tried.first)[3]:
        row.towns = ["Birk", "Celle"]
    for row in tried.first.truth:
        if row.group == 3:
            row.town = "Aldorf"
    return tried


@broken("a value that its person does not have", "coverage")
def _():
    tried = table(k=4)
    as_one(tried.first, 2)
    for row in groups(tried.first)[2]:
        row.shown = "gout"
    return tried


@broken("values that nobody has, beside the only one of a class", "counts")
def _():
    tried = table(l=2)
    as_one(tried.first, 4)
    for n, shown in enumerate(("*", "flu.", "none of these")):
        person_at(tried.first, 4, n).shown = shown
    return tried


@broken("groups that are numbered as their first people come", "group numbering")
def _():
    tried = table(k=4)
    first = {row.group: at for at, row in reversed([*enumerate(tried.first.truth)])}
    for row in tried.first.rows:
        row.more["CLASS"] = f"g{sorted(first.values()).index(first[row.group])}"
    tried.mapping["group"] = "CLASS"
    return tried


@broken("people without a row", "counts")
def _():
    tried = table(k=2)
    gone = {person_at(tried.first, n).name for n in range(4)}
    tried.first.rows[:] = [row for row in tried.first.rows if row.name not in gone]
    return tried


@broken("rows that nobody stands behind, without a word", "counts")
def _():
    tried = table(k=4)
    tried.first.rows += [replace(row) for row in groups(tried.first)[5]]
    return tried


for shown, order in {
    "in the order of age": (0, 1, 2, 3),
    "from the oldest to the youngest": (3, 2, 1, 0),
    "turned by one place": (1, 2, 3, 0),
    "the middle ones first": (1, 2, 0, 3),
    "in pairs": (2, 3, 0, 1),
}.items():

    @broken(f"rows of each class {shown}", "row order")
    def _(order=order):
        tried = table(k=4)
        by_rank(tried.first, order)
        return tried


@broken("rows in the order of the snapshot", "row order")
def _():
    tried = table(k=4)
    at = {row.name: number for number, row in enumerate(tried.first.truth)}
    tried.first.rows.sort(key=lambda row: at[row.name])
    return tried


@broken("rows of each class in the order of identifiers", "row order")
def _():
    tried = table(k=4)
    by_rank(tried.first, (0, 1, 2, 3), lambda row: row.name)
    return tried


@broken("a column of identifiers", "no identifiers")
def _():
    tried = table(k=4)
    for row in tried.first.rows:
        row.more["NUMBER"] = row.name
    return tried


@broken("a column of numbers that the mapping does not name", "no other columns")
def _():
    tried = table(k=4)
    for number, row in enumerate(tried.first.rows):
        row.more["NOTE"] = number % 3
    return tried


# Several releases, or one, with m-invariance.


@broken("a group with a value twice", "values of a group")
def _():
    tried = table(m=2)
    as_one(tried.first, 3)
    swap(tried.first, person_at(tried.first, 3).name, "gout")
    return tried


@broken("values that left groups between releases", "candidates by quasi-identifiers")
def _():
    tried = table(m=2, releases=2)
    for number, kept in ((0, ("flu", "gout")), (1, ("flu", "ulcer"))):
        for n, value in enumerate((*kept, *kept)):
            swap(tried.releases[number], person_at(tried.releases[number], 6, n).name, value)
    return tried


@broken("groups that shifted by half of their people", "candidates by quasi-identifiers")
def _():
    tried = table(m=2, releases=2)
    for number, one in enumerate(tried.releases):
        people = sorted((row.age, row.name) for row in one.rows)
        pairs = {name: (at + number) // 2 for at, (_, name) in enumerate(people)}
        every = {name: VALUES[at % 4] for at, (_, name) in enumerate(people)}
        ages = dict(zip((name for _, name in people), (age for age, _ in people), strict=True))
        for row in (*one.rows, *one.truth):
            inside = [ages[name] for name, pair in pairs.items() if pair == pairs[row.name]]
            row.value, row.group, row.towns = every[row.name], pairs[row.name], [*TOWNS]
            row.low, row.high = min(inside), max(inside)
        one.rows.sort(key=lambda row: (row.low, row.value))
    return tried


@broken("a value renamed in the second release", "candidates by quasi-identifiers")
def _():
    tried = table(m=2, releases=2)
    names = dict(zip(VALUES, ("asthma", "influenza", "gout disease", "peptic ulcer"), strict=True))
    for row in (*tried.releases[1].rows, *tried.releases[1].truth):
        row.value = names[row.value]
    return tried


@broken("a set of towns that leaves out the one between", "candidates by quasi-identifiers")
def _():
    tried = table(m=2)
    for row in (*tried.first.rows, *tried.first.truth):
        if row.group == 3:
            row.town = "Birk" if row.value in ("flu", "gout") else ["Aldorf", "Celle"][row.value == "ulcer"]
            row.towns = ["Birk"] if row.town == "Birk" else ["Aldorf", "Celle"]
            row.value = "flu" if row.town == "Birk" else row.value
    return tried


# Honest ones.


@honest("sorted by all columns")
def _():
    return table(k=4, l=4)


@honest("shuffled")
def _():
    tried = table(k=4, l=4)
    random.Random(3).shuffle(tried.first.rows)
    return tried


@honest("classes shuffled, and rows in them")
def _():
    tried = table(k=4, l=4)
    parts = groups(tried.first)
    draw = random.Random(8)
    draw.shuffle(parts)
    tried.first.rows[:] = [row for part in parts for row in draw.sample(part, SIZE)]
    return tried


@honest("classes shuffled, and rows in the order of their values")
def _():
    tried = table(k=4, l=4)
    parts = groups(tried.first)
    random.Random(8).shuffle(parts)
    tried.first.rows[:] = [row for part in parts for row in sorted(part, key=lambda row: row.value)]
    return tried


@honest("values in the order of a tool's own codes")
def _():
    tried = table(k=4, l=4)
    tried.first.rows.sort(key=lambda row: (row.group, ("gout", "asthma", "ulcer", "flu").index(row.value)))
    return tried


@honest("half of each class spelt in another way")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        if row.value in ("flu", "gout"):
            row.cell = f"[{row.low}, {row.high + 1}["
    return tried


@honest("ends with decimals that hold no more people")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.cell = f"{row.low - 0.9}-{row.high + 0.9}"
    return tried


@honest("three rows suppressed altogether, whom others cover")
def _():
    tried = table(k=4, l=2)
    for n in range(3):
        more = replace(person_at(tried.first, n), name=f"x{n}")
        tried.first.truth.append(more)
        tried.first.rows.append(replace(more, cell="*", towns=["*"]))
    tried.first.rows.sort(key=lambda row: (row.cell or "", row.group, row.value))
    return tried


@honest("one row suppressed altogether")
def _():
    tried = table(k=4, l=2)
    more = replace(person_at(tried.first, 0), name="x")
    tried.first.truth.append(more)
    tried.first.rows.append(replace(more, cell="", towns=["?"]))
    return tried


@honest("towns suppressed in whole classes")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        if row.group % 2:
            row.towns = ["*"]
    return tried


@honest("all ages suppressed")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.cell = "*"
    return tried


@honest("classes that touch each other at an open end")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.cell = f"[{row.low},{row.high + 1})"
    return tried


@honest("values that only look alike")
def _():
    tried = table(k=4, l=4)
    names = dict(zip(VALUES, ("flu", "flu A", "flu B", "flux"), strict=True))
    for row in (*tried.first.rows, *tried.first.truth):
        row.value = names[row.value]
    return tried


@honest("values spelt in another way than in the truth")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.shown = row.value.upper()
    return tried


@honest("codes with leading zeros as values")
def _():
    tried = table(k=4, l=4)
    for row in (*tried.first.rows, *tried.first.truth):
        row.value = f"0{VALUES.index(row.value)}"
    return tried


@honest("a column of classes numbered by content")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.more["CLASS"] = row.group
    tried.mapping["group"] = "CLASS"
    return tried


@honest("a column of classes numbered by lot")
def _():
    tried = table(k=4, l=4)
    numbers = random.Random(2).sample(range(100), PEOPLE // SIZE)
    for row in tried.first.rows:
        row.more["CLASS"] = f"c{numbers[row.group]}"
    tried.mapping["group"] = "CLASS"
    return tried


@honest("a column that says the same of everybody")
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.more["YEAR"] = 2020
    return tried


@honest("separated by semicolons")
def _():
    tried = table(k=4, l=4)
    tried.mapping["separator"] = ";"
    return tried


@honest("with a decimal comma", ["decimals"])
def _():
    tried = table(k=4, l=4)
    tried.mapping |= {"separator": ";", "decimal": ","}
    for row in tried.first.rows:
        row.cell = f"{row.low - 0.5}-{row.high + 0.5}".replace(".", ",")
    return tried


@honest("words for what is missing", ["dash", "set"])
def _():
    tried = table(k=4, l=4)
    tried.mapping["null_values"] = ["unknown"]
    for row in groups(tried.first)[4]:
        row.cell, row.towns = "unknown", ["unknown"]
    return tried


@honest("masks", ["dash"])
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.cell = f"{row.low // 10}*"
    return tried


@honest("comparisons at both ends", ["dash"])
def _():
    tried = table(k=4, l=4)
    for row in tried.first.rows:
        row.cell = {0: f"<{row.high + 1}", 11: f">={row.low}"}.get(row.group)
    return tried


@honest("an age and more", ["dash"])
def _():
    tried = table(k=4, l=4)
    for row in groups(tried.first)[11]:
        row.cell = f"{row.low - 0.5}+"
    return tried


@honest("one class of everybody")
def _():
    tried = table(k=48, l=4)
    for row in tried.first.rows:
        row.low, row.high, row.towns = 0, 199, [*TOWNS]
    tried.first.rows.sort(key=lambda row: row.value)
    return tried


@honest("k of more than is promised")
def _():
    return table(k=2)


@honest("the same release twice")
def _():
    return table(m=4, releases=2)


@honest("one release with m values in each group")
def _():
    return table(m=4)


@honest("people who come and go with their whole group")
def _():
    tried = table(m=4, releases=2)
    for rows in (tried.releases[1].rows, tried.releases[1].truth):
        rows[:] = [row for row in rows if row.group != 7]
    return tried


@honest("other groups with the same values")
def _():
    tried = table(m=4, releases=2)
    for row in tried.releases[1].rows:
        row.low, row.high = row.low - 10 * (row.group % 2), row.high + 9 * (row.group % 2 == 0)
        row.towns = [*TOWNS]
    tried.releases[1].rows.sort(key=lambda row: (row.low, row.value))
    return tried


@honest("new people in groups of their own")
def _():
    tried = table(m=4, releases=2)
    for row in (*tried.releases[1].rows, *tried.releases[1].truth):
        if row.group == 9:
            row.name = f"new{row.name}"
    return tried


def judged(make, folder, spelling, sets=0):
    """The promises that an audit says are broken; None if it refuses the table."""
    found = audited(make(), spelling, folder, sets)
    if isinstance(found, PublishedFolderError):
        return None
    rows = found.promises()
    return set(rows.filter(~rows["holds"])["promise"])


def spelling_of(number, spellings):
    return spellings[number % len(spellings)], number % len(SETS)


@pytest.mark.parametrize(("number", "why"), [*enumerate(BROKEN)], ids=[*BROKEN])
def test_a_broken_table_is_convicted(number, why, tmp_path):
    make, convicted_for, spellings = BROKEN[why]
    found = judged(make, tmp_path, *spelling_of(number, spellings))
    assert found is None if convicted_for is PublishedFolderError else convicted_for in (found or ())


@pytest.mark.parametrize(("number", "why"), [*enumerate(HONEST)], ids=[*HONEST])
def test_an_honest_table_is_acquitted(number, why, tmp_path):
    make, spellings = HONEST[why]
    assert judged(make, tmp_path, *spelling_of(number, spellings)) == set()


@pytest.mark.slow("audits some 190 tables")
@pytest.mark.parametrize("why", [*BROKEN, *HONEST])
def test_a_verdict_does_not_depend_on_the_spelling(why, tmp_path, seed_of_run):
    """On three spellings, which each run draws anew."""
    make, *_, spellings = (BROKEN | HONEST)[why]
    ways = [(spelling, number % len(SETS)) for number, spelling in enumerate(spellings)]
    ways = random.Random(f"{seed_of_run} {why}").sample(ways, min(3, len(ways)))
    found = [judged(make, tmp_path / f"{number}", *way) for number, way in enumerate(ways)]
    assert all(one == another for one, another in pairwise(found)), dict(zip(ways, found, strict=True))


def test_what_one_release_leaves_undecided_no_later_one_decides(tmp_path):
    tried = table(k=4, l=2, releases=2)
    alone = replace(person_at(tried.first, 0), name="x", age=199, cell="*", towns=["*"])
    tried.first.truth.append(alone)
    tried.first.rows.append(alone)
    found = audited(tried, "dash", tmp_path).promises()
    assert found.filter(promise="k-anonymity")["undecided"].item() == 1


def test_the_page_states_how_many_are_convicted_and_acquitted():
    assert min(len(BROKEN), len(HONEST)) >= 30
