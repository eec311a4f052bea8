"""Thirty ways to break a table of another tool, each convicted, and thirty honest tables, each acquitted.

The counts stand in docs/measured/audits.md.
"""

import random
from dataclasses import replace

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

pytestmark = pytest.mark.usefixtures("only_verdicts")

BROKEN, HONEST = {}, {}


def broken(why, convicted_for, spellings=None, **promise):
    """Let a function break a table that promises so much; `convicted_for` is a promise, or a message."""
    return lambda change: BROKEN.update(
        {why: (made(change, promise), convicted_for, spellings or [*SPELLINGS])}
    )


def honest(why, spellings=None, **promise):
    """Let a function be a way to change such a table that breaks no promise."""
    return lambda change: HONEST.update({why: (made(change, promise), spellings or [*SPELLINGS])})


def made(change, promise):
    def make():
        change(tried := table(**promise))
        return tried

    return make


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


@broken("a class of three where four are promised", "k-anonymity", k=4)
def _(tried):
    gone = person_at(tried.first, 3).name
    for rows in (tried.first.rows, tried.first.truth):
        rows[:] = [row for row in rows if row.name != gone]


@broken("one row with a wider age than the others of its class", "k-anonymity", k=4)
def _(tried):
    person_at(tried.first, 3).low -= 1


@broken("one row with a town more than the others of its class, between theirs", "k-anonymity", k=4)
def _(tried):
    row = next(row for row in tried.first.rows if row.towns == ["Aldorf", "Celle"] or row.group == 3)
    assert row.towns == ["Aldorf", "Dornau"]
    row.towns = ["Aldorf", "Birk", "Dornau"]


@broken("one row suppressed in one column", "k-anonymity", k=4)
def _(tried):
    person_at(tried.first, 3).towns = ["*"]


@broken("one row whose age is missing", "k-anonymity", k=4)
def _(tried):
    person_at(tried.first, 3).cell = "NA"


@broken("one row with its exact age", "k-anonymity", k=4)
def _(tried):
    row = person_at(tried.first, 3)
    row.cell = str(row.age)


@broken("everybody with the exact age", "k-anonymity", k=4)
def _(tried):
    for row in tried.first.rows:
        row.low = row.high = row.age


@broken("a class with one value", "l-diversity", l=2)
def _(tried):
    as_one(tried.first, 4)


@broken("a class with one value in two spellings", "l-diversity", l=2)
def _(tried):
    as_one(tried.first, 4)
    person_at(tried.first, 4).shown = "Flu "


@broken("a class with one code, with and without a leading zero", "l-diversity", l=2)
def _(tried):
    as_one(tried.first, 4, "7")
    person_at(tried.first, 4, 1).shown = "07"
    person_at(tried.first, 4, 2).shown = "7.0"


@broken("a class with one value and signs that nobody sees", "l-diversity", l=2)
def _(tried):
    as_one(tried.first, 4)
    person_at(tried.first, 4).shown = "f\u00adlu"


@broken("a column of classes that unites rows with other cells", "l-diversity", l=2)
def _(tried):
    as_one(tried.first, 4)
    for row in tried.first.rows:
        row.more["CLASS"] = row.group // 2
    tried.mapping["group"] = "CLASS"


@broken("a row without a value", "published entries", k=2)
def _(tried):
    person_at(tried.first, 4).shown = ""


@broken("means in place of ages", PublishedFolderError, ["dash"], k=4)
def _(tried):
    for part in groups(tried.first):
        for row in part:
            row.cell = f"{sum(row.age for row in part) / SIZE + 0.25:.2f}"


@broken("people whom no cell covers", "coverage", k=4)
def _(tried):
    for row in tried.first.rows:
        row.low += 1


@broken("people in gaps between towns", "coverage", k=4)
def _(tried):
    for row in groups(tried.first)[3]:
        row.towns = ["Birk", "Celle"]
    for row in tried.first.truth:
        if row.group == 3:
            row.town = "Aldorf"


@broken("a value that its person does not have", "coverage", k=4)
def _(tried):
    as_one(tried.first, 2)
    for row in groups(tried.first)[2]:
        row.shown = "gout"


@broken("values that nobody has, beside the only one of a class", "counts", l=2)
def _(tried):
    as_one(tried.first, 4)
    for n, shown in enumerate(("*", "flu.", "none of these")):
        person_at(tried.first, 4, n).shown = shown


@broken("groups that are numbered as their first people come", "group numbering", k=4)
def _(tried):
    first = {row.group: at for at, row in reversed([*enumerate(tried.first.truth)])}
    for row in tried.first.rows:
        row.more["CLASS"] = f"g{sorted(first.values()).index(first[row.group])}"
    tried.mapping["group"] = "CLASS"


@broken("people without a row", "counts", k=2)
def _(tried):
    gone = {person_at(tried.first, n).name for n in range(4)}
    tried.first.rows[:] = [row for row in tried.first.rows if row.name not in gone]


@broken("rows that nobody stands behind, without a word", "counts", k=4)
def _(tried):
    tried.first.rows += [replace(row) for row in groups(tried.first)[5]]


for shown, order in {
    "in the order of age": (0, 1, 2, 3),
    "from the oldest to the youngest": (3, 2, 1, 0),
    "turned by one place": (1, 2, 3, 0),
    "the middle ones first": (1, 2, 0, 3),
    "in pairs": (2, 3, 0, 1),
}.items():

    @broken(f"rows of each class {shown}", "row order", k=4)
    def _(tried, order=order):
        by_rank(tried.first, order)


@broken("rows in the order of the snapshot", "row order", k=4)
def _(tried):
    at = {row.name: number for number, row in enumerate(tried.first.truth)}
    tried.first.rows.sort(key=lambda row: at[row.name])


@broken("rows of each class in the order of identifiers", "row order", k=4)
def _(tried):
    by_rank(tried.first, (0, 1, 2, 3), lambda row: row.name)


@broken("a column of identifiers", "no identifiers", k=4)
def _(tried):
    for row in tried.first.rows:
        row.more["NUMBER"] = row.name


@broken("a column of numbers that the mapping does not name", "no other columns", k=4)
def _(tried):
    for number, row in enumerate(tried.first.rows):
        row.more["NOTE"] = number % 3


# Several releases, or one, with m-invariance.


@broken("a group with a value twice", "values of a group", m=2)
def _(tried):
    as_one(tried.first, 3)
    swap(tried.first, person_at(tried.first, 3).name, "gout")


@broken("values that left groups between releases", "candidates by quasi-identifiers", m=2, releases=2)
def _(tried):
    for number, kept in ((0, ("flu", "gout")), (1, ("flu", "ulcer"))):
        for n, value in enumerate((*kept, *kept)):
            swap(tried.releases[number], person_at(tried.releases[number], 6, n).name, value)


@broken("groups that shifted by half of their people", "candidates by quasi-identifiers", m=2, releases=2)
def _(tried):
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


@broken("a value renamed in the second release", "candidates by quasi-identifiers", m=2, releases=2)
def _(tried):
    names = dict(zip(VALUES, ("asthma", "influenza", "gout disease", "peptic ulcer"), strict=True))
    for row in (*tried.releases[1].rows, *tried.releases[1].truth):
        row.value = names[row.value]


@broken("a set of towns that leaves out the one between", "candidates by quasi-identifiers", m=2)
def _(tried):
    for row in (*tried.first.rows, *tried.first.truth):
        if row.group == 3:
            row.town = "Birk" if row.value in ("flu", "gout") else ["Aldorf", "Celle"][row.value == "ulcer"]
            row.towns = ["Birk"] if row.town == "Birk" else ["Aldorf", "Celle"]
            row.value = "flu" if row.town == "Birk" else row.value


# Honest ones.


@honest("sorted by all columns", k=4, l=4)
def _(tried):
    pass


@honest("shuffled", k=4, l=4)
def _(tried):
    random.Random(3).shuffle(tried.first.rows)


@honest("classes shuffled, and rows in them", k=4, l=4)
def _(tried):
    parts = groups(tried.first)
    draw = random.Random(8)
    draw.shuffle(parts)
    tried.first.rows[:] = [row for part in parts for row in draw.sample(part, SIZE)]


@honest("classes shuffled, and rows in the order of their values", k=4, l=4)
def _(tried):
    parts = groups(tried.first)
    random.Random(8).shuffle(parts)
    tried.first.rows[:] = [row for part in parts for row in sorted(part, key=lambda row: row.value)]


@honest("values in the order of a tool's own codes", k=4, l=4)
def _(tried):
    tried.first.rows.sort(key=lambda row: (row.group, ("gout", "asthma", "ulcer", "flu").index(row.value)))


@honest("half of each class spelt in another way", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        if row.value in ("flu", "gout"):
            row.cell = f"[{row.low}, {row.high + 1}["


@honest("ends with decimals that hold no more people", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.cell = f"{row.low - 0.9}-{row.high + 0.9}"


@honest("three rows suppressed altogether, whom others cover", k=4, l=2)
def _(tried):
    for n in range(3):
        more = replace(person_at(tried.first, n), name=f"x{n}")
        tried.first.truth.append(more)
        tried.first.rows.append(replace(more, cell="*", towns=["*"]))
    tried.first.rows.sort(key=lambda row: (row.cell or "", row.group, row.value))


@honest("one row suppressed altogether", k=4, l=2)
def _(tried):
    more = replace(person_at(tried.first, 0), name="x0")
    tried.first.truth.append(more)
    tried.first.rows.append(replace(more, cell="", towns=["?"]))


@honest("towns suppressed in whole classes", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        if row.group % 2:
            row.towns = ["*"]


@honest("all ages suppressed", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.cell = "*"


@honest("classes that touch each other at an open end", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.cell = f"[{row.low},{row.high + 1})"


@honest("values that only look alike", k=4, l=4)
def _(tried):
    names = dict(zip(VALUES, ("flu", "flu A", "flu B", "flux"), strict=True))
    for row in (*tried.first.rows, *tried.first.truth):
        row.value = names[row.value]


@honest("values spelt in another way than in the truth", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.shown = row.value.upper()


@honest("codes with leading zeros as values", k=4, l=4)
def _(tried):
    for row in (*tried.first.rows, *tried.first.truth):
        row.value = f"0{VALUES.index(row.value)}"


@honest("a column of classes numbered by content", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.more["CLASS"] = row.group
    tried.mapping["group"] = "CLASS"


@honest("a column of classes numbered by lot", k=4, l=4)
def _(tried):
    numbers = random.Random(2).sample(range(100), PEOPLE // SIZE)
    for row in tried.first.rows:
        row.more["CLASS"] = f"c{numbers[row.group]}"
    tried.mapping["group"] = "CLASS"


@honest("a column that says the same of everybody", k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.more["YEAR"] = 2020


@honest("separated by semicolons", k=4, l=4)
def _(tried):
    tried.mapping["separator"] = ";"


@honest("with a decimal comma", ["decimals"], k=4, l=4)
def _(tried):
    tried.mapping |= {"separator": ";", "decimal": ","}
    for row in tried.first.rows:
        row.cell = f"{row.low - 0.5}-{row.high + 0.5}".replace(".", ",")


@honest("words for what is missing", ["dash", "set"], k=4, l=4)
def _(tried):
    tried.mapping["null_values"] = ["unknown"]
    for row in groups(tried.first)[4]:
        row.cell, row.towns = "unknown", ["unknown"]


@honest("masks", ["dash"], k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.cell = f"{row.low // 10}*"


@honest("comparisons at both ends", ["dash"], k=4, l=4)
def _(tried):
    for row in tried.first.rows:
        row.cell = {0: f"<{row.high + 1}", 11: f">={row.low}"}.get(row.group)


@honest("an age and more", ["dash"], k=4, l=4)
def _(tried):
    for row in groups(tried.first)[11]:
        row.cell = f"{row.low - 0.5}+"


@honest("one class of everybody", k=48, l=4)
def _(tried):
    for row in tried.first.rows:
        row.low, row.high, row.towns = 0, 199, [*TOWNS]
    tried.first.rows.sort(key=lambda row: row.value)


@honest("k of more than is promised", k=2)
def _(tried):
    pass


@honest("the same release twice", m=4, releases=2)
def _(tried):
    pass


@honest("one release with m values in each group", m=4)
def _(tried):
    pass


@honest("people who come and go with their whole group", m=4, releases=2)
def _(tried):
    for rows in (tried.releases[1].rows, tried.releases[1].truth):
        rows[:] = [row for row in rows if row.group != 7]


@honest("other groups with the same values", m=4, releases=2)
def _(tried):
    for row in tried.releases[1].rows:
        row.low, row.high = row.low - 10 * (row.group % 2), row.high + 9 * (row.group % 2 == 0)
        row.towns = [*TOWNS]
    tried.releases[1].rows.sort(key=lambda row: (row.low, row.value))


@honest("new people in groups of their own", m=4, releases=2)
def _(tried):
    for row in (*tried.releases[1].rows, *tried.releases[1].truth):
        if row.group == 9:
            row.name = f"new{row.name}"


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


@pytest.mark.slow("audits some seventy tables")
@pytest.mark.parametrize("why", [*BROKEN, *HONEST])
def test_a_verdict_does_not_depend_on_the_spelling(why, tmp_path, seed_of_run):
    """On another spelling than above, which each run draws anew."""
    make, *promise, spellings = (BROKEN | HONEST)[why]
    ways = [(spelling, number % len(SETS)) for number, spelling in enumerate(spellings)]
    found = judged(make, tmp_path, *random.Random(f"{seed_of_run} {why}").choice(ways))
    if why in HONEST or promise == [PublishedFolderError]:
        assert found == (set() if why in HONEST else None)
    else:
        assert promise[0] in found


def test_what_one_release_leaves_undecided_no_later_one_decides(tmp_path):
    tried = table(k=4, l=2, releases=2)
    alone = replace(person_at(tried.first, 0), name="x0", age=199, cell="*", towns=["*"])
    tried.first.truth.append(alone)
    tried.first.rows.append(alone)
    found = audited(tried, "dash", tmp_path).promises()
    assert found.filter(promise="k-anonymity")["undecided"].item() == 1


def test_the_page_states_how_many_are_convicted_and_acquitted():
    assert min(len(BROKEN), len(HONEST)) >= 30
