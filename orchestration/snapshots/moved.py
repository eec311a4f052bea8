"""People in two snapshots whose quasi-identifiers differ: by column, how many, and what may be behind it.

An identifier that was given to somebody else is there again, and its new owner gets the signature of the old
one. What gives it away is what hardly changes of a person: a date of birth, a sex, a place of birth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM, entries, exactly
from republish.anonymize.contract import CategoryAttribute, Product
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.contract.schema import Schema
from republish.anonymize.people.persons import joined_by_names
from republish.anonymize.people.renaming import moves_of_both

LASTING = re.compile(
    r"birth|born|^dob|dob$|yob$|bday|brth|geb_?(oren|urt|dat|jahr)|jahrgang|geboorte|naiss|nacim|_nac$|nasc"
    r"|syntym|urodz|f[oöø]d(els|t)|gender|geschlecht|geslacht|genero|genre|sesso|ethnic|^(sex|sexe|sexo|race|kon|kön|plec)$|sex$|_race$"
)
"""Names of columns, in small letters, that say what hardly changes of a person."""
OF_AGE = re.compile(
    r"(^|_)(age|alter|leeftijd|edad|idade|eta|ikä|wiek|alder|ålder)(_|$)"
    r"|(^|_)(age_?(band|gr|cat|class|range)|alters_?(gruppe|klasse))"
)
"""Names of columns that grow by as much for everybody."""
LASTING_MOST, MOST = 0.1, 0.5
"""The largest share of people who may have another value: of what lasts, and of all else."""
LASTING_LEARNED, LEARNED, LEARNED_TIMES = 0.02, 0.2, 3
"""No more than so many times the share of the release before, if that is not below the first, of what lasts,
or the second, of all else."""
UNLIKELY_MOST, FEWEST_VALUES = 0.02, 10
"""The share of people whose values may have changed places, as no life does it; fewer values say nothing."""
FEWEST = 20
"""Fewer people in both say nothing."""
ALONG_LEAST = 0.2
"""The share of those who moved whose other columns moved, too, if they are other people."""
GROWTH, SAME_TIMES = 1.5, 1.02
"""All numbers of a column do not grow by so many times at once; and how far people's may differ."""
YEARS = 2
"""An age that differs by more from what everybody's grew by is another one."""
NEARLY_ALL = 0.8
"""The share of people for whom an explanation has to be right."""
SCHEMA = {"column": pl.String, "both": pl.Int64, "moved": pl.Int64, "exchanged": pl.Int64}
HAS_MOVED = "has moved"


def moved_by_column(people: pl.DataFrame, contract: Product) -> pl.DataFrame:
    """Count the people in both snapshots who have another value, by column.

    A number has moved if it differs from what it was by a quarter of the distance of the quartiles, beyond
    the change that is the middle of all: ages grow, and so do salaries. Whoever has no value in one of them
    has not moved.

    Parameters
    ----------
    people
        Those in both snapshots (`in_both`).

    Returns
    -------
    polars.DataFrame
        `column`, `both` (people with a value in both), `moved`, `exchanged` (people who have the value that
        they had in another column, and the other way round, or a date whose day and month changed places).
    """
    found = _moved(people, contract)
    both = people.select(has_moved.count().alias(name) for name, has_moved in found.items())
    moved = people.select(has_moved.sum().alias(name) for name, has_moved in found.items())
    exchanged = dict.fromkeys(found, 0)
    for names, are_exchanged in _exchanges(people, contract).items():
        number = _exchanged(people, names, are_exchanged)
        exchanged |= {name: max(number, exchanged[name]) for name in names}
    rows = [(name, both[name].item(), moved[name].item(), exchanged[name]) for name in found]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def by_name(table: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """A snapshot under the publisher's names of its columns (`columns` has them by ours), with pseudonyms.

    Whoever lacks a value has null, also where the snapshot has a label in its place.
    """
    named = {name: ours for ours, name in columns.items() if ours in table.columns and ours != IDENTIFIER}
    values = (_there(table[ours]).alias(f"of {name}") for name, ours in named.items())
    return pl.DataFrame([table[PSEUDONYM], *values])


def _there(column: pl.Series) -> pl.Series:
    return column.replace({MISSING: None}) if column.dtype == pl.String else column


def in_both(before: pl.DataFrame, now: pl.DataFrame, contract: Product) -> pl.DataFrame:
    """The people in both of `by_name`: `before NAME` and `now NAME` of each column that can be compared.

    What a contract declares as another kind than before can't be; that it changed is asked about elsewhere.
    """
    names = [
        name
        for name in (f"of {one.name}" for _, one in contract.attributes())
        if name in now.columns and before.schema.get(name) == now.schema[name]
    ]
    tables = (
        table.select(PSEUDONYM, *(exactly(name).alias(f"{when}{name[2:]}") for name in names))
        for when, table in (("before", before), ("now", now))
    )
    return joined_by_names(next(tables), next(tables))


def _shared(people: pl.DataFrame, contract: Product) -> list[str]:
    return [one.name for _, one in contract.attributes() if f"now {one.name}" in people.columns]


def _moved(people: pl.DataFrame, contract: Product) -> dict[str, pl.Expr]:
    """Whether each person has moved, by column; null where there is no value in both."""
    found = {}
    kinds = {one.name: one for _, one in contract.attributes()}
    for name in _shared(people, contract):
        before, now = exactly(f"before {name}"), exactly(f"now {name}")
        one, is_number = kinds[name], people.schema[f"now {name}"].is_numeric()
        if isinstance(one, CategoryAttribute) and _is_age(name):
            places = {label: place for place, label in enumerate(one.labels)}
            change = _place(now, places) - _place(before, places)
            found[name] = (change - change.median()).abs() > 1
        elif is_number and not isinstance(one, CategoryAttribute):
            change = now - before
            beyond = (change - change.median()).abs()
            quarter = (before.quantile(0.75) - before.quantile(0.25)) / 4
            within = pl.lit(0) if lasts(name) else pl.lit(YEARS) if _is_age(name) else quarter
            low, high = _times(name)
            found[name] = (beyond > within) | _are_rescaled(low, high)
        else:
            found[name] = before != now
    return found


def _times(name: str) -> tuple[pl.Expr, pl.Expr]:
    """How many times what it was a number is: the tenth and the ninetieth of a hundred people."""
    before = exactly(f"before {name}")
    times = (exactly(f"now {name}") / before).filter(before != 0)
    return times.quantile(0.1), times.quantile(0.9)


def _are_rescaled(low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """Whether numbers are in another unit: as many times what they were of all, and no growth."""
    return ((high < low * SAME_TIMES) & ((low > GROWTH) | (high < 1 / GROWTH))).fill_null(value=False)


def _place(label: pl.Expr, places: Mapping[str, int]) -> pl.Expr:
    return label.replace_strict(places, default=None, return_dtype=pl.Int64)


def _exchanges(people: pl.DataFrame, contract: Product) -> dict[tuple[str, ...], pl.Expr]:
    """Whether each person's values of two columns, or day and month of a date, have changed places."""
    found: dict[tuple[str, ...], pl.Expr] = {}
    shared = _shared(people, contract)
    for name in shared:
        before, now = exactly(f"before {name}"), exactly(f"now {name}")
        if people.schema[f"now {name}"].is_temporal():
            months = (before.dt.month() == now.dt.day()) & (before.dt.day() == now.dt.month())
            found[(name,)] = months & (before.dt.year() == now.dt.year()) & (before != now)
    for one, other in combinations(shared, 2):
        if people.schema[f"before {one}"] == people.schema[f"now {other}"]:
            was, is_now = ([exactly(f"{when} {name}") for name in (one, other)] for when in ("before", "now"))
            found[one, other] = (was[0] == is_now[1]) & (was[1] == is_now[0]) & (was[0] != was[1])
    return found


def _exchanged(people: pl.DataFrame, names: Sequence[str], are_exchanged: pl.Expr) -> int:
    """How many people's values have changed places; 0 where they have few different ones."""
    number, values = people.select(
        are_exchanged.sum().alias("people"),
        exactly(f"now {names[0]}").filter(are_exchanged).n_unique().alias("values"),
    ).row(0)
    return int(number) if values >= FEWEST_VALUES else 0


def labels_moved(
    people: pl.DataFrame, before: pl.DataFrame, now: pl.DataFrame, contract: Product
) -> pl.DataFrame:
    """Count how many people came from each label of a quasi-identifier to each other one, as `moves` does.

    Labels begin with their column's name. `people` are those in both snapshots (`in_both`); whoever lacks a
    value is left out.
    """
    found = [no_labels_moved()]
    for one in (one.name for _, one in contract.attributes() if isinstance(one, CategoryAttribute)):
        if _is_age(one):
            continue  # everybody leaves the labels of an age in time
        if people.schema.get(f"now {one}") == pl.String:
            both = people.select(gone=exactly(f"before {one}"), became=exactly(f"now {one}")).drop_nulls()
            counted = moves_of_both(
                both, *(entries(table, f"of {one}").drop_nulls() for table in (before, now))
            )
            name = pl.lit(f"{one}: ")
            found.append(counted.with_columns(gone=name + pl.col("gone"), became=name + pl.col("became")))
    return pl.concat(found)


def lasts(name: str) -> bool:
    """Whether a column's name says that it hardly changes of a person."""
    return LASTING.search(name.lower()) is not None


def _is_age(name: str) -> bool:
    return OF_AGE.search(name.lower()) is not None


def no_labels_moved() -> pl.DataFrame:
    """No label of anybody, as `labels_moved` counts."""
    return pl.DataFrame(schema={"gone": pl.String, "became": pl.String, "people": pl.Int64})


def nobody_moved() -> pl.DataFrame:
    """Nothing of anybody, as `moved_by_column` counts."""
    return pl.DataFrame(schema=SCHEMA)


def beside_most(
    counted: pl.DataFrame, contract: Product, earlier: Mapping[str, float]
) -> list[tuple[str, float, float]]:
    """Each column of which enough people have values: the share that has another one, and the most.

    `counted` is what `moved_by_column` counted, of all shards; `earlier` are shares of the release before.
    """
    both = counted.group_by("column", maintain_order=True).sum().filter(pl.col("both") >= FEWEST)
    return [
        (column, moved / people, most_moved(column, contract, earlier.get(column), exchanged / people))
        for column, people, moved, exchanged in both.iter_rows()
    ]


def most_moved(column: str, contract: Product, earlier: float | None, exchanged: float = 0.0) -> float:
    """The largest share of people who may have another value of a column.

    `earlier` is the share that was found in the release before; None if there is none. `exchanged` is the
    share of people whose value changed places.
    """
    if column in contract.expect.moved:
        return contract.expect.moved[column]
    if exchanged > UNLIKELY_MOST:
        return UNLIKELY_MOST
    if _is_age(column) and not lasts(column):
        return LASTING_MOST
    if not lasts(column) and not isinstance(contract, Schema):
        return 1.0  # a view's columns may be anything
    most, least = (LASTING_MOST, LASTING_LEARNED) if lasts(column) else (MOST, LEARNED)
    return most if earlier is None else min(most, max(least, LEARNED_TIMES * earlier))


def why_moved(
    columns: Sequence[str], before: pl.DataFrame, now: pl.DataFrame, contract: Product, names: pl.DataFrame
) -> str:
    """A question that names what may be behind columns in which too many people have other values.

    `names` has the `identifier` of each pseudonym, in the types of the snapshots' own.
    """
    people = in_both(before, now, contract).join(names, on=PSEUDONYM, how="left")
    moved = _moved(people, contract)
    people = people.with_columns(pl.any_horizontal(moved[name] for name in columns).alias(HAS_MOVED))
    if (question := _changed_places(people, columns, contract)) is not None:
        return question
    others = [moved[name] for name in moved if name not in columns]
    if len(columns) > 1 or not others or any(_goes_along(people, one) for one in others):
        return "are the identifiers given to other people?"
    return _why_one_moved(people, columns[0], contract)


def _changed_places(people: pl.DataFrame, columns: Sequence[str], contract: Product) -> str | None:
    """A question, where values of nearly all who moved are another column's, or another row's."""
    for pair, are_exchanged in _exchanges(people, contract).items():
        if {*pair} <= {*columns} and (
            _is_so(people, are_exchanged)
            or _exchanged(people, pair, are_exchanged) > UNLIKELY_MOST * people.height
        ):
            if len(pair) == 1:
                return "day and month have changed places: are dates read in another order?"
            one, other = pair
            return f"many have in {one} what they had in {other}: are the two columns swapped?"
    ordered = people.sort(pl.col(IDENTIFIER).cast(pl.String).str.len_chars(), IDENTIFIER)
    for step, whose in ((1, "before"), (-1, "after")):
        same = [exactly(f"now {name}") == exactly(f"before {name}").shift(step) for name in columns]
        if _is_so(ordered, pl.all_horizontal(same)):
            what = "are rows numbered anew" if len(columns) > 1 else "were rows of this column shifted"
            return f"nearly all of them have what the identifier {whose} theirs had: {what}?"
    return None


def _why_one_moved(people: pl.DataFrame, column: str, contract: Product) -> str:
    became, was = exactly(f"now {column}"), exactly(f"before {column}")
    kinds = {one.name: one for _, one in contract.attributes()}
    if isinstance(kinds[column], CategoryAttribute):
        usual = people.filter(became.is_not_null()).select(
            same=became == became.mode().first().over(was), kinds=became.n_unique()
        )
        if usual.height and usual["kinds"][0] > 1 and float(usual["same"].mean() or 0) >= NEARLY_ALL:  # type: ignore[arg-type]
            return f"nearly all who had one {column} have the same other one: has its list of codes changed?"
    if _is_so(people, became == became.filter(pl.col(HAS_MOVED)).mode().first()):
        return f"nearly all of them have the same {column} now: does it stand in for one that is not known?"
    if people.schema[f"now {column}"].is_temporal():
        return "all else of them is much the same: were dates shifted anew, or read in another order?"
    if people.schema[f"now {column}"].is_numeric():
        low, high = _times(column)
        is_so, times = people.select(_are_rescaled(low, high).alias("is so"), low.alias("times")).row(0)
        if is_so:
            return f"{column} is {times:.3g} times what it was, of nearly all: is it in another unit?"
    return f"all else of them is much the same: is {column} read from another column?"


def _goes_along(people: pl.DataFrame, moved: pl.Expr) -> bool:
    """Whether another column moved where those did that moved too often, and hardly elsewhere."""
    among, elsewhere = people.select(
        moved.filter(pl.col(HAS_MOVED)).mean().fill_null(0).alias("among"),
        moved.filter(~pl.col(HAS_MOVED)).mean().fill_null(0).alias("elsewhere"),
    ).row(0)
    return bool(among >= ALONG_LEAST and among >= LEARNED_TIMES * elsewhere)


def _is_so(people: pl.DataFrame, what: pl.Expr) -> bool:
    """Whether something is so of nearly all who have moved."""
    share = people.select(what.filter(pl.col(HAS_MOVED)).mean()).item()
    return float(share or 0) >= NEARLY_ALL
