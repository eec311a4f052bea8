"""Whatever is asked of a release, estimated from copies, and how often intervals hold the truth.

Of nineteen tables, three releases are made under every principle that publishes groups, in each format.
(Views, of `sequential`, have a row for each person: they are counted, and nothing is estimated.) 25 copies
are drawn of the first and of the last one, and asked for

- people with each value whose one to three quasi-identifiers lie in random intervals (*value*), and people
  with any value who do (*any value*);
- people of each label, or of each sixth of the numbers (*label*), of each two of these (*label x label*), of
  each label who have a value (*value x label*), and of each weekday of a date (*weekday*);
- people who have exactly a number (*number*): of the twelve that most have, where no `min_width` hides them;
- means and medians of numbers over the people with a value (*mean*, *median*), and by how much the share of
  people with a value grows with a number (*slope*, of the four most frequent values);
- how many more people with a value there are in the third release than in the second, of all and of those
  who meet the conditions (*change*).

All but the first, the second and the last are asked of 50 people and more.

A cell says how many of the 95 % intervals hold the truth (counts give or take half a person): the mean of all
releases, and after a stroke that of the release of which fewest are right. In brackets is the median
half-width over the median error (0.5 people at least). *RMSE* is that of copies over that of people who are
spread evenly over the intervals of their groups, less counterfeits: the median of releases. *Slopes kept* is
the median of estimated over true slopes.

Constants of copies were chosen on the tables that are *chosen on*; the others had no say. *m = 8* are
releases of these tables under m-invariance, of those that carry it.

Version 0.28 had estimates by formulas beside copies. Just before the formulas went, both were asked the same
on the tables that are made up: by kind of count, 96 to 98 % of the intervals of copies were right, and 96 to
99 % of those of formulas. These were up to two fifths wider, and errors of copies were 3 to 8 % larger.
Formulas answered little but counts, so copies are the one way now.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import duckdb
import numpy as np
import polars as pl

from benchmarks.measures.copied import copies_of_release
from benchmarks.measures.peoples import chosen_on, held_out, other_tables, principles
from benchmarks.measures.queries import estimated_counts
from benchmarks.series import Made, contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import (
    CategoryAttribute,
    Contract,
    DateAttribute,
    NumberAttribute,
    QuasiIdentifier,
)
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats import ANATOMY
from republish.anonymize.learning.copies import pooled
from republish.anonymize.people.codes import code_domain, encode_columns
from republish.anonymize.principles import principle_of
from republish.anonymize.utility.queries import Workload
from republish.orchestration.readers.estimate.names import quoted, text

QUICK = {"people": 300, "conditions": 2, "words": ("students, few values: m_invariance",)}
RELEASES, COPIES, T = 3, 25, 2.064
"""So many copies; `T` is the quantile of Student's t for them."""
FEWEST, SLOPES, BANDS, NUMBERS = 50, 4, 6, 12
HELD_OUT = (
    *("one value too frequent", "staff, usual hours", "receipts, chapter", "free1, education"),
    *("utilities, sales", "utilities, other sales"),
)
"""Tables that had no say in the constants of copies."""
COUNTS = ("value", "any value", "label", "label x label", "value x label", "weekday", "number", "change")
FIGURES = ("mean", "median", "slope")
LARGE_M = 8

Found = dict[str, list[tuple[float, float, float, float]]]
"""By kind of question: the truth, what copies say, its error; and what even spreads say, or NaN."""


def asked(made: list[Made], conditions: int) -> Iterator[Found]:
    """What is asked of the first and of the last release of a series."""
    tables = {
        number: copies_of_release(one.candidate.published, one.contract, number, COPIES)
        for number, one in enumerate(made, start=1)
        if one.candidate.linkage.height
    }
    for number in {1, len(made)} & set(tables):
        own, found = made[number - 1], defaultdict(list)
        people = _named(own)
        for kind, truth, answer, evenly in _counts(own, people, tables[number], conditions):
            found[kind].append((truth, *pooled(answer), evenly))
        for kind, truth, answers in _figures(own, people, tables[number]):
            found[kind].append((truth, *pooled(answers), np.nan))
        if number > 1 and number - 1 in tables:
            before = made[number - 2]
            for truth, answer in _changes((before, own), tables[number - 1], tables[number], conditions):
                found["change"].append((truth, *pooled(answer), np.nan))
        yield found


def _named(made: Made) -> pl.DataFrame:
    """The people of a release under their columns' own names."""
    names = {column: one.name for column, one in made.contract.attributes()}
    return present(made).rename(names | {VALUE: made.contract.sensitive.name})


def _counts(
    made: Made, people: pl.DataFrame, tables: pl.DataFrame, conditions: int
) -> Iterator[tuple[str, float, np.ndarray, float]]:
    """Questions: kind, the truth, what each copy says, and what even spreads say of some."""
    value, attributes = quoted(made.contract.sensitive.name), dict(made.contract.attributes())
    values = people[made.contract.sensitive.name].n_unique()
    for workload in workloads(made, conditions * values):
        where, evenly = condition(workload, made.contract), spread_evenly(made, workload)
        by_value = _answers(people, tables, where, value)
        for one, even in zip(workload.value, evenly, strict=True):
            if one in by_value:
                yield "value", *by_value[one], even
        for truth, answer in _answers(people, tables, where, "1").values():
            yield "any value", truth, answer, float(sum(evenly))
    for kind, split in _splits(attributes, people, value):
        for part, (truth, answer) in _answers(people, tables, "true", split).items():
            if truth >= FEWEST and part is not None:
                yield kind, truth, answer, np.nan


def _splits(
    attributes: Mapping[str, QuasiIdentifier], people: pl.DataFrame, value: str
) -> Iterator[tuple[str, str]]:
    """What people are counted by: the kind of question, and an expression."""
    parts = [part_of(one, people[one.name]) for one in attributes.values()]
    for one in parts:
        yield "label", f"{one}::VARCHAR"
        yield "value x label", f"{one}::VARCHAR || '|' || {value}::VARCHAR"
    for one, other in itertools.combinations(parts, 2):
        yield "label x label", f"{one}::VARCHAR || '|' || {other}::VARCHAR"
    for declared in attributes.values():
        name = quoted(declared.name)
        if isinstance(declared, DateAttribute):
            yield "weekday", f"dayofweek({name})"
        elif isinstance(declared, NumberAttribute) and not declared.min_width:
            often = people[declared.name].value_counts(sort=True).head(NUMBERS)[declared.name].to_list()
            yield "number", f"CASE WHEN {name} IN ({', '.join(map(repr, often))}) THEN {name} END"


def _changes(
    made: tuple[Made, Made], before: pl.DataFrame, now: pl.DataFrame, conditions: int
) -> Iterator[tuple[float, np.ndarray]]:
    """How many more people with each value there are, of all and of those who meet conditions."""
    value, people = quoted(made[1].contract.sensitive.name), [_named(one) for one in made]
    values = people[1][made[1].contract.sensitive.name].n_unique()
    wheres = (condition(one, made[1].contract) for one in workloads(made[1], conditions * values))
    for where in itertools.chain(["true"], wheres):
        old, new = (
            _answers(own, tables, where, value) for own, tables in zip(people, (before, now), strict=True)
        )
        for part in old.keys() & new.keys():
            yield new[part][0] - old[part][0], new[part][1] - old[part][1]


def _answers(
    people: pl.DataFrame, tables: pl.DataFrame, where: str, split: str
) -> dict[Any, tuple[float, np.ndarray]]:
    """By part of the people who meet a condition: how many there are, and how many each copy has."""
    words = f"SELECT {split}, count(*) FROM people WHERE {where} GROUP BY ALL"  # noqa: S608 - ours
    of_copies = f"SELECT {split}, copy, count(*) FROM people WHERE {where} GROUP BY ALL"  # noqa: S608 - ours
    copied: dict[Any, np.ndarray] = defaultdict(lambda: np.zeros(COPIES))
    for part, copy, number in _rows(tables, of_copies):
        copied[part][copy - 1] = number
    true = dict(_rows(people, words))
    return {part: (true.get(part, 0), copied[part]) for part in true.keys() | copied.keys()}


def _rows(people: pl.DataFrame, words: str) -> list[Any]:
    with duckdb.connect() as connection:
        connection.register("people", people)
        return connection.sql(words).fetchall()


def _figures(
    made: Made, people: pl.DataFrame, tables: pl.DataFrame
) -> Iterator[tuple[str, float, list[float]]]:
    """Means and medians of numbers by value, and slopes of values: the truth, and what copies say."""
    sensitive = made.contract.sensitive.name
    values = people[sensitive].value_counts(sort=True).filter(pl.col("count") >= FEWEST)[sensitive].to_list()
    drawn = tables.partition_by("copy")
    for _, one in made.contract.attributes():
        if isinstance(one, CategoryAttribute):
            continue
        numbers = [table[one.name].to_physical().cast(pl.Float64).to_numpy() for table in (people, *drawn)]
        held = [table[sensitive] for table in (people, *drawn)]
        for at, value in enumerate(values):
            has = [(own == value).to_numpy() for own in held]
            looks: list[tuple[str, Callable[[np.ndarray, np.ndarray], float]]] = [
                ("mean", lambda number, own: float(np.nanmean(number[own]))),
                ("median", lambda number, own: float(np.nanmedian(number[own]))),
            ]
            if at < SLOPES:
                looks.append(("slope", _slope))
            for kind, look in looks:
                truth, *others = (look(number, own) for number, own in zip(numbers, has, strict=True))
                yield kind, truth, others


def _slope(number: np.ndarray, own: np.ndarray) -> float:
    there = ~np.isnan(number)
    return float(np.polyfit(number[there], own[there].astype(float), 1)[0])


def present(made: Made) -> pl.DataFrame:
    """The people who are in a release."""
    return made.people.join(made.candidate.linkage, on="pseudonym", how="semi")


def coded(made: Made) -> pl.DataFrame:
    """The same, with quasi-identifiers as codes, and `value`."""
    people = present(made)
    return people.select(VALUE, *encode_columns(people, made.contract).get_columns())


def workloads(release: Made, queries: int) -> Iterator[Workload]:
    """Random conditions on one to three quasi-identifiers, each asked for every sensitive value."""
    attributes = dict(release.contract.attributes())
    chosen = [some for size in (1, 2, 3) for some in itertools.combinations(attributes, size)]
    rng, values = np.random.default_rng(1), present(release)[VALUE].unique().sort().to_list()
    for query in range(-(-queries // len(values))):
        some = chosen[query % len(chosen)]
        domains = [code_domain(attributes[column]) for column in some]
        ends = np.array([np.sort(rng.integers(low, high + 1, 2)) for low, high in domains], float)
        low, high = (np.tile(end, (len(values), 1)) for end in ends.T)
        yield Workload(some, low, high, tuple(values))


def condition(workload: Workload, contract: Contract) -> str:
    """The condition of a workload in SQL."""
    parts, attributes = [], dict(contract.attributes())
    for position, column in enumerate(workload.columns):
        attribute = attributes[column]
        low, high = int(workload.low[0, position]), int(workload.high[0, position])
        if isinstance(attribute, CategoryAttribute):
            labels = ", ".join(map(text, attribute.labels[low : high + 1]))
            parts.append(f"{quoted(attribute.name)} IN ({labels})")
        elif isinstance(attribute, DateAttribute):
            first, last = pl.Series([low, high]).cast(pl.Int32).cast(pl.Date)
            parts.append(f"{quoted(attribute.name)} BETWEEN DATE '{first}' AND DATE '{last}'")
        else:
            parts.append(f"{quoted(attribute.name)} BETWEEN {low} AND {high}")
    return " AND ".join(parts)


def spread_evenly(release: Made, workload: Workload) -> np.ndarray:
    """float64[Q]: what queries come to if people are spread evenly, less counterfeits."""
    contract, read = release.contract, release.read
    sizes = read.sizes.join(read.counterfeits, on="group_id", how="left")
    real = sizes.select("group_id", real=1 - pl.col("count").fill_null(0) / pl.col("size"))
    published = principle_of(contract).format(contract)
    if published is not ANATOMY:
        return estimated_counts(read.values.join(read.boxes, on="group_id"), workload, contract)
    main_table = published.internal(release.candidate.published, contract)["quasi_identifiers"]
    exact = main_table.select("group_id", *encode_columns(main_table, contract).get_columns())
    values, answers = read.values.join(real, on="group_id"), np.zeros(len(workload.value))
    for query, value in enumerate(workload.value):
        ends = zip(workload.columns, workload.low[query], workload.high[query], strict=True)
        inside = pl.all_horizontal(pl.col(column).is_between(low, high) for column, low, high in ends)
        joined = values.filter(pl.col(VALUE) == value).join(
            exact.group_by("group_id").agg(inside=inside.mean()), on="group_id"
        )
        answers[query] = (joined["tuples"] * joined["real"] * joined["inside"]).sum()
    return answers


def part_of(attribute: NumberAttribute | DateAttribute | CategoryAttribute, values: pl.Series) -> str:
    """A column in SQL, numbers and dates in bands of as many people each."""
    name = quoted(attribute.name)
    if isinstance(attribute, CategoryAttribute):
        return name
    number = f"({name} - DATE '1970-01-01')" if isinstance(attribute, DateAttribute) else name
    ends: set[Any] = {values.to_physical().quantile(part / BANDS, "nearest") for part in range(1, BANDS)}
    return " + ".join(f"({number} >= {end})::INTEGER" for end in sorted(ends)).join("()")


def contract_under(declared: Mapping[str, Any], parameters: Mapping[str, Any]) -> Contract:
    """The contract of a series; exact quasi-identifiers have no minimum widths."""
    if parameters["name"] == "e_equivalence" or parameters.get("format") == "anatomy":
        widths = ({k: v for k, v in one.items() if k != "min_width"} for one in declared["quasi_identifiers"])
        declared = {**declared, "quasi_identifiers": list(widths)}
    return contract_of(declared, **parameters)


def cell(found: list[Found], kind: str) -> str:
    """How many intervals are right, on average and at worst, and how wide they are."""
    right, widths = [], []
    for truth, people, error, _ in (np.array(one[kind]).T for one in found if one.get(kind)):
        off, half = np.abs(people - truth), T * error
        right.append((off <= half + (0.5 if kind in COUNTS else 1e-9)).mean())
        if kind in COUNTS and error.any():
            widths.append(np.median(half) / max(0.5, np.median(off)))
    if not right:
        return ""
    width = f" ({np.median(widths):.1f})" if widths else ""
    return f"{np.mean(right):.0%}/{min(right):.0%}{width}"


def _over(found: list[Found], kind: str) -> str:
    """The median of the root mean squares of errors over those of even spreads."""
    ratios = []
    for truth, people, _, evenly in (np.array(one[kind]).T for one in found if one.get(kind)):
        off, even = (np.sqrt(((one - truth) ** 2).mean()) for one in (people, evenly))
        ratios += [off / even] if even > 0.5 else []
    return f"{np.median(ratios):.2f}" if ratios else ""


def _kept(found: list[Found]) -> str:
    """The median of estimated over true slopes."""
    rows = [row for one in found for row in one.get("slope", ())]
    return f"{np.median([row[1] / row[0] for row in rows if row[0]]):.2f}" if rows else ""


def tables(people: int = 2500, conditions: int = 12, words: tuple[str, ...] = ("",)) -> Iterator[Table]:
    """Releases of so many people, of tables and principles with one of the `words`."""
    together: dict[str, list[Found]] = defaultdict(list)
    for name, make, principle, parameters in _series(people):
        if not any(word in f"{name}: {principle}" for word in words):
            continue
        declared, snapshots = make()
        try:
            made = list(released(list(snapshots)[:RELEASES], contract_under(declared, parameters)))
        except NotEligible:
            continue
        part = "had no say" if name.startswith(HELD_OUT) else "chosen on"
        is_large = principle.endswith("m = 8")
        groups = (principle,) if is_large else ("all", part, principle, f"{part}: {name}")
        for found in asked(made, conditions):
            for group in groups:
                together[group].append(found)
    order = sorted(together, key=lambda one: (": " in one, one))
    yield Table(
        "Intervals that hold the truth",
        ("releases of", "number", *COUNTS, *FIGURES),
        [
            [group, len(together[group]), *(cell(together[group], kind) for kind in (*COUNTS, *FIGURES))]
            for group in order
        ],
    )
    yield Table(
        "RMSE of copies over that of even spreads, and slopes kept",
        ("releases of", "value", "any value", "slopes kept"),
        [
            [
                group,
                *(_over(together[group], kind) for kind in ("value", "any value")),
                _kept(together[group]),
            ]
            for group in order
            if ": " not in group
        ],
    )


def _series(people: int) -> Iterator[tuple[str, Callable[[], Any], str, dict[str, Any]]]:
    """Tables under principles: the table's name, its maker, the principle's name and parameters."""
    for name, make, m in itertools.chain(*(of(people) for of in (chosen_on, other_tables, held_out))):
        for principle, parameters in principles(m):
            yield name, make, principle, parameters
        if m < LARGE_M:
            yield name, make, f"m_invariance, m = {LARGE_M}", dict(principles(LARGE_M))["m_invariance"]


if __name__ == "__main__":
    main(tables)
