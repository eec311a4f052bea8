"""Readers who join a view with whichever earlier releases they like: counted by code that shares nothing."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import polars as pl
import pytest

from republish.anonymize.errors import NotEligible
from republish.anonymize.promise.joins import JOINED, joins_of
from republish.anonymize.sequential import SEQUENTIAL
from tests.anonymize.sequential.sequential_tables import attack_view, people, state, table, view_contract

AGES = [["20s", "young", "ANY"], ["30s", "young", "ANY"], ["40s", "old", "ANY"], ["50s", "old", "ANY"]]
AGE = {"name": "age", "kind": "category", "hierarchy": AGES}
JOB = {"name": "job", "kind": "category", "order": ["pilot", "clerk", "cook"], "keep": True}


SEEDS = [*range(16), 17, 43, 53, 69, 99, 128, 147, 176, 177, 186, 196]
"""Sixteen, and those of 200 that let readers of fewer tables infer more while few joins were looked at."""


def confidences(tables, x, y):
    """The largest confidence in each value of each column of y, by executing a join of tables of dicts.

    Rows of two tables are one person's if they have the same job; a job's rows multiply.
    """
    by_job = []
    for rows in tables:
        jobs = defaultdict(Counter)
        for row in rows:
            jobs[row["job"]][tuple(sorted(row.items()))] += 1
        by_job.append(jobs)
    linked = defaultdict(Counter)
    for job in set.intersection(*(set(jobs) for jobs in by_job)):
        joined = Counter({(): 1})
        for jobs in by_job:
            joined = Counter(
                {
                    (*one, *other): times * more
                    for one, times in joined.items()
                    for other, more in jobs[job].items()
                }
            )
        for row, times in joined.items():
            known = tuple(sorted(part for part in row if part[0] in x))
            for column, value in row:
                if column in y:
                    linked[known, column][value] += times
    largest = defaultdict(Fraction)
    for (_, column), values in linked.items():
        for value, times in values.items():
            largest[column, value] = max(largest[column, value], Fraction(times, values.total()))
    return largest


def too_certain(view, earlier, x, limits):
    """The subsets of earlier tables that let a reader of the view infer a value with more than its limit."""
    found = []
    for size in range(len(earlier) + 1):
        for some in combinations(sorted(earlier), size):
            linked = confidences([view, *(earlier[name] for name in some)], x, limits)
            if any(
                linked[y, value] > Fraction(str(k))
                for y, values in limits.items()
                for value, k in values.items()
            ):
                found.append(some)
    return found


def clerks(random, kind):
    """People of three jobs, their tables, and what is promised: `x`, and limits by column of y and value."""
    names = ["disease", "pay", "club"][: 3 if kind == "three tables" else 2]
    jobs = random.choices(JOB["order"], [random.random() + 0.05 for _ in range(3)], k=random.randint(8, 40))
    jobs = sorted({*jobs, *JOB["order"]}) + jobs
    likely = {job: [random.random() for _ in AGES] for job in JOB["order"]}
    view = [{"age": random.choices(AGES, likely[job])[0][0], "job": job} for job in jobs]
    earlier = {}
    for name in names:
        share = {job: random.choice([0.05, 0.1, 0.5, 0.95]) for job in JOB["order"]}
        times = {job: random.choice([1, 1, 2, 5]) for job in JOB["order"]}
        rows = [job for job in jobs for _ in range(times[job])]
        earlier[name] = [{"job": job, name: "yes" if random.random() < share[job] else "no"} for job in rows]
    limit = {"yes": random.choice([0.3, 0.45, 0.6, 0.75])}
    if kind == "two columns in y":
        return view, earlier, ["age"], {"disease": limit, "pay": {"yes": 0.9}}
    return view, earlier, ["age", "pay"] if kind == "part of x absent" else ["age"], {"disease": limit}


def released(view, earlier, x, limits, job=JOB):
    """The candidate, its contract, and the tables as it was given them."""
    wanted = view_contract(
        [AGE, job],
        requirement="linkability",
        x=x,
        y=list(limits),
        k=limits,
        previous=[{"path": name, "columns": ["job", name]} for name in earlier],
    )
    tables = [table(**{key: [row[key] for row in rows] for key in rows[0]}) for rows in earlier.values()]
    rows = people(**{name: [row[name] for row in view] for name in ("age", "job")})
    return SEQUENTIAL.release(rows, wanted, state(*tables), 1, None), rows, wanted, tables


@pytest.mark.slow("counts every world")
@pytest.mark.parametrize("kind", ["two columns in y", "part of x absent", "three tables"])
def test_no_reader_infers_more_from_whichever_tables_they_join(kind):
    published = 0
    for seed in SEEDS:
        view, earlier, x, limits = clerks(Random(seed), kind)
        try:
            made, rows, wanted, tables = released(view, earlier, x, limits)
        except NotEligible:
            continue
        assert too_certain(made.published["view"].to_dicts(), earlier, x, limits) == []
        assert attack_view(made, rows, wanted, previous=tables).holds
        published += 1
        bare = [dict(row) for row in view]
        broken = too_certain(bare, earlier, x, limits)
        as_it_is = replace(made, published={"view": pl.DataFrame(bare)})
        found = attack_view(as_it_is, rows, wanted, previous=tables).tables["join_privacy"]
        assert (found["broken"].item() > 0) == bool(broken)
    assert published >= 9


def test_of_five_releases_every_subset_is_joined_and_of_more_the_pairs():
    view, one = {"age", "job", "pid"}, {"job", "disease"}
    joins = joins_of(view, [one] * 5, ["age"], ["disease"], others=2, y_is_one_value=False)
    assert joins[0] == (0, 1, 2, 3, 4)
    assert set(joins) == {some for size in range(1, 6) for some in combinations(range(5), size)}
    assert len(joins) == len(set(joins)) == 2**5 - 1  # the view alone says nothing of diseases
    joins = joins_of(view, [one] * 6, ["age"], ["disease"], others=2, y_is_one_value=False)
    few = {some for size in (1, 2) for some in combinations(range(6), size)}
    assert (joins[0], set(joins)) == ((*range(6),), {(*range(6),), (2, 3, 4, 5)} | few)


def test_a_join_is_looked_at_if_it_has_some_of_x_and_what_is_protected_of_y():
    earlier = [{"job", "disease"}, {"job", "pay"}, {"job", "visit"}]

    def joins(x, y, *, together):
        return set(joins_of({"job", "pid"}, earlier, x, y, others=3, y_is_one_value=together))

    assert joins(["pay"], ["disease"], together=False) == {(0, 1, 2), (0, 1)}
    assert joins(["job"], ["disease", "pay"], together=False) == {
        (0, 1, 2),
        (0, 1),
        (0, 2),
        (1, 2),
        (0,),
        (1,),
    }
    assert joins(["job"], ["disease", "pay"], together=True) == {(0, 1, 2), (0, 1)}
    assert joins(["job", "pay"], ["pid", "visit"], together=True) == {(0, 1, 2), (0, 2), (1, 2), (2,)}


def test_the_page_and_the_promise_name_the_joins_that_are_looked_at():
    page = (Path(__file__).resolve().parents[3] / "docs/explanation/sequential.md").read_text()
    assert JOINED in " ".join(page.split())
    about = {"x": ["age"], "previous": [{"path": "t2", "columns": ["job", "disease"]}]}
    for wanted in (
        view_contract([AGE, JOB], **about, y=["pid"], k=2),
        view_contract([AGE, JOB], **about, requirement="linkability", y=["disease"], k=0.5),
    ):
        assert any(JOINED in sentence for sentence in SEQUENTIAL.promise(wanted.principle).sentences())


PILOTS = ["pilot"] * 30 + ["clerk"] * 200
"""Every pilot, and one clerk, is in the 30s."""


@pytest.mark.parametrize(
    ("x", "limits"),
    [
        (["age"], {"disease": {"HIV": 0.45}}),
        (["age"], {"disease": {"HIV": 0.45}, "pay": {"high": 0.9}}),
        (["age", "pay"], {"disease": {"HIV": 0.45}}),
    ],
    ids=["x and y in two tables", "two columns in y", "part of x in a third table"],
)
def test_a_reader_without_one_column_of_x_or_y_is_promised_the_same(x, limits):
    """In the join of all three, payroll hides what the view and the table of patients say of the 30s."""
    view = [{"age": "30s" if at <= 30 else "40s", "job": job} for at, job in enumerate(PILOTS)]
    patients = [{"job": job, "disease": "HIV" if job == "pilot" else "flu"} for job in PILOTS]
    payroll = [{"job": job, "pay": pay} for job, pay in zip(PILOTS, ["high", "low"] * 115, strict=True)]
    earlier = {"disease": patients, "pay": payroll}
    made, rows, wanted, tables = released(view, earlier, x, limits, JOB | {"order": ["pilot", "clerk"]})
    assert set(made.published["view"]["age"]) == {"ANY"}
    bare = pl.DataFrame(view).select(pl.col("age"), "job")
    found = attack_view(replace(made, published={"view": bare}), rows, wanted, previous=tables)
    assert found.tables["join_privacy"].select("found", "broken").row(0) == (pytest.approx(9 / 11), 31)
