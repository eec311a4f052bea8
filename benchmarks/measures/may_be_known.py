"""Values that may be known.

A share of the people have the value `none`, the others an occupation. Each release replaces a tenth of the
people, and in each one of fifty has another value than before. Three contracts: of a table in which nobody
has `none`; of one in which 61 % have it and it counts as sensitive; and of the same one with
`not_sensitive: [none]`. NCP is the share of its domain that an interval covers. The error is the median over
10,000 counts of expected selectivity 10 % by `republish estimate`; where 61 % have `none`, counts of
occupations are of fewer people, and their relative error is larger for it. "Apart" is the share of the people
with an occupation who are in groups without `none`: it is known that they have one, and not which.
Counterfeits are those of all releases, all else is of the last one.

A second table has two adversaries who know more than is promised against, where signatures are kept. One
really knows who has `none` in each release, and strikes these rows out: of people with an occupation, a value
of theirs is above 1/m if fewer than m occupations are left in all their groups, and certain if one is. The
other one knows how frequent values are, and guesses the most frequent value of a new signature, of people
whose value changed to one outside of their signature (with `none` known, the most frequent occupation).

A third table has a reader who takes all assignments of published rows as equally likely, rows of `none`
without numbers. Promised is 1/m of numbered rows, so this reader gives some people more. Eight series are
of few people, each release replaces a share of them, and nobody's value changes. "Counted" are people with
an occupation whose risk could be counted (an audit stops earlier); NCP is the mean over all releases.
Groups that have `none` several times stay together as far as they can; beside that, series in which they
are made anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.cells import cells_of_people
from benchmarks.measures.estimator import estimated_cells
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.measures.queries import SELECTIVITY, workload_errors
from benchmarks.real_data import adult_contract, adult_series, data_folder
from benchmarks.series import Made, Series, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.exact_risk import exact_risks
from republish.anonymize.columns import IDENTIFIER, VALUE, most_of
from republish.anonymize.contract import Contract
from republish.anonymize.errors import NotEligible
from republish.anonymize.m_invariance.companions import COMPANIONS
from republish.anonymize.m_invariance.lasting_groups import TOGETHER
from republish.anonymize.rounding import FEW_STEPS

QUICK = {"people": 300, "releases": 2}
CHANGING = 0.02
PRINCIPLES: tuple[dict[str, Any], ...] = (
    {"name": "m_invariance", "m": 4},
    {"name": "e_equivalence", "m": 4, "e": 3},
    {"name": "streamliner", "l": 4},
    {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 4},
)
SIGNED = ("m_invariance", "e_equivalence")
"""Principles under which people keep a signature."""
KNOWING = (
    *("principle and values", "people with an occupation", "above 1/m", "certain"),
    *("new signatures", "guessed right", "by chance"),
)
COUNTED = ("m, replaced, groups", "people", "counted", "above 1/m", "largest", "counterfeits", "NCP")
FEW, SERIES, OCCUPATIONS, STEPS = 60, 8, 8, 10**7
"""Of the third table: people of a series, series, occupations, and how far risks are counted."""
LEAVING = ((3, 0.1), (3, 0.2), (4, 0.1), (4, 0.2))
"""m, and the share of the people who are replaced in each release of the third table."""
HEADINGS = ("principle and values", "releases", "counterfeits", "held back", "NCP", "median error", "apart")


def tables(people: int = 12_000, releases: int = 4, none: float = 0.61) -> Iterator[Table]:
    """A table for each source of people, with a row for each principle and contract."""
    r = people // 10
    made_up = census(people + r * releases).select("person_id", *QUASI_IDENTIFIERS, "occupation")
    made_up_series = dynamic_series(made_up, people, r, releases, 1)
    yield from _few(made_up, census_contract(), min(people // 5, FEW), releases, none)
    yield from _tables(f"Made-up census, {people:,} people", census_contract(), made_up_series, none)
    folder = data_folder()
    if folder is not None:
        declared = adult_contract(folder)
        names = declared["sensitive"]["values"]
        numbers = dict(zip(names, range(1, len(names) + 1), strict=True))
        snapshots = [
            (date, one.with_columns(pl.col("occupation").replace_strict(numbers, return_dtype=pl.Int64)))
            for date, one in adult_series(folder, people, r, releases)
        ]
        declared["sensitive"] = {"name": "occupation", "values": list(numbers.values())}
        yield from _tables(f"Adult, {people:,} people", declared, snapshots, none)


def _tables(title: str, declared: dict[str, Any], snapshots: Series, none: float) -> Iterator[Table]:
    everybody = list(_changing(snapshots, declared, 0))
    some = list(_changing(everybody, declared, none))
    sensitive, rows, knowing = declared["sensitive"], [], []
    value = min(sensitive["values"]) - 1
    listed = sensitive | {"values": [value, *sensitive["values"]]}
    for principle in PRINCIPLES:
        ways = {
            "no none": (everybody, sensitive),
            "none is sensitive": (some, listed),
            "none may be known": (some, {**listed, "not_sensitive": [value]}),
        }
        for words, (table, attribute) in ways.items():
            contract = contract_of({**declared, "sensitive": attribute}, **principle)
            once = table[:1] if principle["name"] == "streamliner" else table
            made = _released(once, contract)
            rows.append((f"{principle['name']}, {words}", *_row(made, value)))
            if made and principle["name"] in SIGNED:
                known = _known(made, value, principle["m"])
                knowing.append((f"{principle['name']}, {words}", *known, *_changed(made, value)))
    yield Table(f"{title}, {none:.0%} none", HEADINGS, rows)
    yield Table(f"{title}, {none:.0%} none, to adversaries who know more", KNOWING, knowing)


def _few(
    people: pl.DataFrame, declared: dict[str, Any], few: int, releases: int, none: float
) -> Iterator[Table]:
    """What counting rows without numbers says, where groups stay together and where they are made anew."""
    values, rows = sorted(declared["sensitive"]["values"])[:OCCUPATIONS], []
    value = values[0] - 1
    attribute = declared["sensitive"] | {"values": [value, *values], "not_sensitive": [value]}
    own = pl.col(declared["sensitive"]["name"])
    people = people.with_columns((own % OCCUPATIONS + values[0]).cast(people.schema[own.meta.output_name()]))
    for m, share in LEAVING:
        contract = contract_of({**declared, "sensitive": attribute}, name="m_invariance", m=m)
        for words, forgotten in {"stay": (), "made anew": (COMPANIONS, TOGETHER)}.items():
            found = []
            for seed in range(SERIES):
                series = dynamic_series(people, few, round(few * share), releases, seed)
                some = list(_changing(series, declared, none, changing=0))
                if made := _released(some, contract, forgotten):
                    found.append(_without_numbers(made, value, m))
            each = pl.DataFrame(found, schema=COUNTED[1:], orient="row")
            of_all = each.select(pl.col("people", "counted", "above 1/m").sum(), pl.col("largest").max())
            price = each.select(pl.col("counterfeits").sum(), pl.col("NCP").mean())
            rows.append((f"{m}, {share:.0%}, {words}", *of_all.row(0), *price.row(0)))
    yield Table(f"Made-up census, {few:,} people, counted by rows without numbers", COUNTED, rows)


def _without_numbers(made: list[Made], none: Any, m: int) -> tuple[Any, ...]:
    """People with an occupation, those counted, above 1/m, the largest risk; counterfeits and NCP."""
    covering = [
        one.people.select(person=IDENTIFIER, value=VALUE).join(one.linkage, on="person") for one in made
    ]
    risks = exact_risks(covering, [one.read for one in made], invariant=False, steps=STEPS, largest=FEW)
    risk = risks.filter(pl.col(VALUE) != none)["risk"]
    counted = risk.drop_nulls()
    losses = [
        normalized_certainty_penalty(one.read.boxes.unique("group_id"), one.read.sizes, one.contract)
        for one in made
    ]
    above = int((counted > 1 / m + FEW_STEPS).sum())
    forged = sum(one.candidate.figures.counterfeits for one in made)
    return len(risk), len(counted), above, most_of(counted), forged, float(np.mean(losses))


def _changing(
    snapshots: Series, declared: dict[str, Any], none: float, changing: float = CHANGING
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The snapshots with `none` for a share of the people, and with values that change."""
    column, person = declared["sensitive"]["name"], declared["identifier"]
    value = min(declared["sensitive"]["values"]) - 1
    rng, before = np.random.default_rng(1), pl.DataFrame()
    for date, snapshot in snapshots:
        drawn = snapshot[column].sample(fraction=1, with_replacement=True, seed=int(rng.integers(2**31)))
        has_none = pl.Series(rng.random(len(snapshot)) < none)
        fresh = snapshot.with_columns(
            pl.when(has_none).then(pl.lit(value, snapshot.schema[column])).otherwise(drawn).alias("other"),
            has_none.alias("has_none"),
        )
        first = pl.when("has_none").then(pl.lit(value, snapshot.schema[column])).otherwise(column)
        now = fresh.with_columns(first.alias("now"))
        if len(before):
            now = now.join(before, on=person, how="left", maintain_order="left")
            moves = pl.Series(rng.random(len(snapshot)) < changing)
            now = now.with_columns(
                pl.when(moves & pl.col("had").is_not_null())
                .then("other")
                .otherwise(pl.coalesce("had", "now"))
                .alias("now")
            )
        before = now.select(person, had="now")
        yield date, snapshot.with_columns(now["now"].alias(column))


def _released(snapshots: Series, contract: Contract, forgotten: Collection[str] = ()) -> list[Made]:
    """All releases; none if one is refused."""
    try:
        return list(released(snapshots, contract, forgotten=forgotten))
    except NotEligible:
        return []


def _row(made: list[Made], none: Any) -> tuple[Any, ...]:
    """Releases, counterfeits, held back, NCP, error and people apart; dashes where nothing is released."""
    if not made:
        return ("refused", *[None] * (len(HEADINGS) - 2))
    last, figures = made[-1], [one.candidate.figures for one in made]
    boxes = last.read.boxes.unique("group_id")
    loss = normalized_certainty_penalty(boxes, last.read.sizes, last.contract)
    return (
        len(made),
        sum(one.counterfeits for one in figures),
        figures[-1].held_back,
        loss if "microdata" in last.candidate.published else 0.0,
        _error(last),
        f"{_apart(last, none):.0%}",
    )


def _hosted(made: Made, none: Any) -> pl.DataFrame:
    """`person`, `own` (their value), `left` (the occupations that their group has, a list)."""
    values = made.read.values.group_by("group_id").agg(left=pl.col(VALUE).filter(pl.col(VALUE) != none))
    own = made.people.select(person=IDENTIFIER, own=VALUE)
    return made.linkage.join(values, on="group_id").join(own, on="person")


def _known(made: list[Made], none: Any, m: int) -> tuple[int, int, int]:
    """People with an occupation; of how many fewer than m are left to who knows who has `none`; and one."""
    every = pl.concat([_hosted(one, none) for one in made]).filter(pl.col("own") != none)
    groups = every.group_by("person", "own").agg(releases=pl.len())
    held = every.explode("left").group_by("person", "own", "left").len()
    left = held.join(groups, on=["person", "own"])
    left = left.filter(pl.col("len") == pl.col("releases")).group_by("person", "own").len()
    fewest = left.group_by("person").agg(pl.col("len").min())["len"]
    return len(fewest), int((fewest < m).sum()), int((fewest == 1).sum())


def _changed(made: list[Made], none: Any) -> tuple[int, str | None, str | None]:
    """New signatures after a change to an occupation, and how often their most frequent one is right."""
    right, chance = [], []
    for before, now in pairwise(made):
        frequent = dict(now.people[VALUE].value_counts().iter_rows())
        people = _hosted(now, none).filter(pl.col("own") != none)
        both = people.join(_hosted(before, none), on="person", suffix="_before")
        new = both.filter(~pl.col("own").is_in(pl.col("left_before")))
        for own, left in new.select("own", "left").iter_rows():
            right.append(max(left, key=lambda value: (frequent.get(value, 0), value)) == own)
            chance.append(1 / len(left))
    if not right:
        return 0, None, None
    return len(right), f"{np.mean(right):.1%}", f"{np.mean(chance):.1%}"


def _error(made: Made) -> str | None:
    """The median error of counts, where all quasi-identifiers are numbers."""
    contract = made.contract
    if any(qi.kind != "number" for qi in contract.quasi_identifiers):
        return None
    true = cells_of_people(made.people.drop("identifier"), contract)
    estimated = estimated_cells(made.candidate.published, contract)
    (error,) = workload_errors(true, estimated, contract, (SELECTIVITY,), 1).values()
    return f"{error:.1%}"


def _apart(made: Made, none: Any) -> float:
    """The share of people with an occupation who are in groups without `none`."""
    values = made.read.values
    mixed = values.filter(pl.col(VALUE) == none).select("group_id")
    has = values.filter(pl.col(VALUE) != none)
    alone = has.join(mixed, on="group_id", how="anti")
    return int(alone["tuples"].sum()) / max(int(has["tuples"].sum()), 1)


if __name__ == "__main__":
    main(tables)
