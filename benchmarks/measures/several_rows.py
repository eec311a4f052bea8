"""People with several rows.

Patients have 3.3 visits on average, and about half of them have several diagnoses, of fifty that are as
frequent as occupations in a made-up census. Before each release a tenth of the patients is replaced, one in
fifty of the others has a new diagnosis, and a tenth comes again. The same visits are released twice: with
`rows: several`, where a patient's visits with one diagnosis have one signature and no two diagnoses share
one, and as if each visit was somebody else, which gives patients away. NCP is the share of its domain that an
interval covers; the error is the median over 10,000 counts of visits, of expected selectivity 10 %, by
`republish estimate`. All of it is of the last release; counterfeits are a share of the rows of all. "Two
values" are patients who had two diagnoses under one signature; "independent" is the mean of what somebody
comes to for one diagnosis of a patient who takes visits as independent of each other, where the promise is
1/m.

A diagnosis that comes later may lie in a signature that the patient has. Its visits are left out
now, because groups of several releases can prove that they differ from the others: the patient would have
each of the two with 2/m. The first table is of before that. With 5,000 patients and 6 releases, of 19,142
visits in the last one:

- m = 4: 19 visits are left out; 20 patients had two values. Intervals have .262 of the domain (.266 before),
  counts are off by 2.4 % (2.5 %), and 1.9 % of the rows are counterfeits (2.1 %).
- m = 8: 32 visits are left out; 37 patients had two values. Intervals have .459 (.451), counts are off by
  3.2 % (3.4 %), and 7.9 % are counterfeits (8.1 %).

Room for a second value of each patient costs what twice the m costs: with m = 4, the rows of m = 8.

Why intervals are longer, with m = 8 above all: a patient's second diagnosis has to go to a signature that
shares no value with the first one's. Fifty diagnoses leave few such signatures; many of them are of
patients who live elsewhere, or are new ones of few patients. So the diagnoses of a patient are placed one
after the other, in the narrowest region where all of them find a place. When one region was filled after the
other, with whatever fits there, intervals had .44 of the domain with m = 8, counts were off by 10.8 %, and
2.8 % of the rows were counterfeits. What helps further is a smaller m.

Under the global guarantee each visit is published once, in the release after it. Each release has the
visits of the patients since the last one, 1.5 a patient and three at most, for one of fifty diagnoses of
which the most frequent has 2.4 %; the strategy is `constant_ratio`. Beside it, one visit of each patient, and
all visits as if each was somebody else. With R releases and r rows a person, no group may have more than
1 - (1 - 1/l)^(1/(R r)) of one value. So fifty values that are equally frequent bear R r = 34 at most with
l = 2, 14 with l = 4, and 6 with l = 8: twenty releases are possible with l = 2 and one row of a person alone.
The third visit of a patient is held back; it is among the visits that counts are compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.cells import cells_of_people
from benchmarks.measures.estimator import estimated_cells
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.measures.queries import SELECTIVITY, workload_errors
from benchmarks.series import Made, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.contract import Contract
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import attack

QUICK = {"people": 400, "releases": 2, "strengths": (4,), "once": (2,)}
HEADINGS = (
    *(
        "m",
        "released as",
        "visits",
        "counterfeits",
        "held back",
        "NCP",
        "median error",
        "largest probability",
    ),
    *("independent", "two values", "processor s"),
)
SEVERAL, SHARE = 0.3, 0.6
"""The chance of each of two more diagnoses, and the share of visits that are for the first one."""
ONCE = {8: 2, 4: 4, 2: 8}
"""l by the number of releases, where visits are published once."""
EACH = (0.6, 0.3, 0.1)
"""Shares of the patients with one, two and three visits since the last release."""
VALUES, SKEW = 50, 0.05
"""Diagnoses, and how uneven they are: the most frequent has 2.4 %."""
AGAIN, NEW = 0.1, 0.02
"""Of the patients who stay, those who come again before a release, and those with a new diagnosis."""


def tables(
    people: int = 60_000,
    releases: int = 20,
    strengths: tuple[int, ...] = (4, 8),
    once: tuple[int, ...] = (8, 4, 2),
) -> Iterator[Table]:
    """A row for each m or number of releases (of visits that are published `once`), and way to release."""
    snapshots, rows = list(visits(people, releases)), []
    for m in strengths:
        most = 50 // m - 1
        for words, contract in (
            ("rows of people", _contract(m, rows="several", row="visit", most=min(4, most))),
            ("people", _contract(m, identifier="visit")),
        ):
            rows.append((m, words, *_row(list(released(snapshots, contract)), contract)))
    if rows:
        yield Table(f"{people:,} patients, {releases} releases", HEADINGS, rows)
    yield _once(people, once)


def _contract(m: int, *, most: int | None = None, **keys: Any) -> Contract:
    """The census' contract for visits; `most` values of a person where there are several rows."""
    declared: dict[str, Any] = {**census_contract(), "identifier": "person_id", **keys}
    several = {} if most is None else {"values_per_person": most}
    return contract_of(declared, name="m_invariance", m=m, on_ineligible="wait", **several)


def visits(people: int, releases: int, seed: int = 1) -> Iterator[tuple[str, pl.DataFrame]]:
    """The date and the visits of each release: `person_id`, `visit`, quasi-identifiers, `occupation`."""
    rng, replaced = np.random.default_rng(seed), people // 10
    everybody = census(people + replaced * releases)
    own = everybody["occupation"].to_numpy()
    diagnoses = np.stack([own, *(rng.permutation(own) for _ in range(4))])
    number = 1 + rng.binomial(2, SEVERAL, len(own))
    person = np.repeat(np.arange(len(own)), 1 + rng.poisson(2.3, len(own)))
    visited = [_visits(person, diagnoses, number, rng)]
    patients = everybody.select("person_id", *QUASI_IDENTIFIERS).with_columns(
        pl.col("person_id").cast(pl.UInt32)
    )
    for date, here in dynamic_series(everybody, people, replaced, releases, seed):
        rows = pl.concat(visited).with_row_index("visit")
        rows = rows.join(here.select(pl.col("person_id").cast(pl.UInt32)), on="person_id", how="semi")
        yield date, rows.join(patients, on="person_id").sort("visit")
        number = np.minimum(number + (rng.random(len(own)) < NEW), len(diagnoses))
        visited.append(_visits(np.flatnonzero(rng.random(len(own)) < AGAIN), diagnoses, number, rng))


def _once(people: int, numbers: tuple[int, ...]) -> Table:
    """Visits that are published once: with up to two rows of a person, with one, and as people."""
    rows: list[tuple[Any, ...]] = []
    for releases in numbers:
        strength, snapshots = ONCE[releases], list(_new_visits(people, releases))
        single = [
            (date, one.unique("person_id", keep="first", maintain_order=True)) for date, one in snapshots
        ]
        for words, seen, keys in (
            ("two rows of people", snapshots, {"rows": "several", "row": "visit", "most": 2}),
            ("one row of people", single, {}),
            ("people", snapshots, {"identifier": "visit"}),
        ):
            contract = _global(strength, releases, **keys)
            rows.append((strength, releases, words, *_of_last(list(released(seen, contract)), contract)))
    headings = ("l", "releases", "released as", "visits", "held back", "rows a group", "NCP", "median error")
    return Table(f"Global guarantee: {people:,} patients, visits that are published once", headings, rows)


def _global(strength: int, releases: int, *, most: int | None = None, **keys: Any) -> Contract:
    sensitive = {"name": "occupation", "values": [*range(VALUES)], "semantics": "transient"}
    declared: dict[str, Any] = {
        **census_contract(),
        "identifier": "person_id",
        "sensitive": sensitive,
        **keys,
    }
    principle = {"name": "global_guarantee", "l": strength, "on_ineligible": "wait"}
    strategy = {"strategy": "constant_ratio", "releases": releases}
    several = {} if most is None else {"rows_per_person": most}
    return contract_of(declared, **principle, **strategy, **several)


def _new_visits(people: int, releases: int, seed: int = 1) -> Iterator[tuple[str, pl.DataFrame]]:
    """The date and the visits of each release: columns as of `visits`, and no visit twice."""
    rng = np.random.default_rng(seed)
    patients = census(people).select("person_id", *QUASI_IDENTIFIERS).with_row_index("visit")
    shares = np.arange(1, VALUES + 1) ** -SKEW
    for number in range(1, releases + 1):
        person = np.repeat(np.arange(people), rng.choice(len(EACH), people, p=EACH) + 1)
        diagnosis = rng.choice(VALUES, len(person), p=shares / shares.sum())
        names = number * 10 * people + np.arange(len(person))
        yield (
            f"20{number:02}-01-01",
            patients[person].with_columns(visit=pl.Series(names), occupation=pl.Series(diagnosis)),
        )


def _of_last(made: list[Made], contract: Contract) -> tuple[Any, ...]:
    """Figures of the last release."""
    last = made[-1]
    figures, height = last.candidate.figures, last.people.height
    if not figures.groups:
        return height, figures.held_back, None, None, None
    boxes = last.read.boxes.unique("group_id")
    true = cells_of_people(last.people.drop("identifier"), contract)
    (error,) = workload_errors(
        true, estimated_cells(last.candidate.published, contract), contract, (SELECTIVITY,), 1
    ).values()
    return (
        height,
        figures.held_back,
        round(figures.tuples / figures.groups, 1),
        normalized_certainty_penalty(boxes, last.read.sizes, contract),
        f"{error:.1%}",
    )


def _visits(person: Any, diagnoses: Any, number: Any, rng: np.random.Generator) -> pl.DataFrame:
    """Visits of patients for one of their diagnoses, mostly for the first."""
    which = np.where(
        rng.random(len(person)) < SHARE, 0, (rng.random(len(person)) * number[person]).astype(int)
    )
    return pl.DataFrame(
        {"person_id": person.astype(np.uint32), "occupation": diagnoses[which, person].astype(np.int64)}
    )


def _row(made: list[Made], contract: Contract) -> tuple[Any, ...]:
    last = made[-1]
    boxes = last.read.boxes.unique("group_id")
    true = cells_of_people(last.people.drop("identifier"), contract)
    estimated = estimated_cells(last.candidate.published, contract)
    (error,) = workload_errors(true, estimated, contract, (SELECTIVITY,), 1).values()
    figures = _attacked(made, contract) if contract.rows == "several" else {}
    forged, every = (sum(numbers) for numbers in zip(*map(_counted, made), strict=True))
    return (
        last.people.height,
        f"{forged / every:.2%}",
        last.candidate.figures.held_back,
        normalized_certainty_penalty(boxes, last.read.sizes, contract),
        f"{error:.1%}",
        figures.get("ever_had"),
        figures.get("as_independent"),
        figures.get("alike"),
        sum(one.processor for one in made),
    )


def _counted(one: Made) -> tuple[int, int]:
    """Counterfeits and rows of a release."""
    return one.candidate.figures.counterfeits, one.people.height


def _attacked(made: list[Made], contract: Contract) -> dict[str, Any]:
    """Figures of the attack on the last release, by whoever has them all."""
    promise, knowledge, figures = principle_of(contract).promise(contract.principle), None, {}
    named = partial(pl.DataFrame.rename, mapping={PSEUDONYM: "person"})
    for number, one in enumerate(made, start=1):
        found = attack(
            contract.table_schema,
            principle_of(contract).format(contract),
            one.candidate.published,
            named(one.people),
            [promise] * number,
            knowledge,
            linkage=named(one.candidate.linkage),
            held_back=one.candidate.figures.held_back,
        )
        knowledge, figures = found.knowledge.of_the_present(number), found.figures
    return dict(figures)


if __name__ == "__main__":
    main(tables)
