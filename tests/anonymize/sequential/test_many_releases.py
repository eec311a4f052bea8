"""Joined with many releases, a record stands for products of counts that no number of 64 bits holds."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from republish.anonymize.errors import NotEligible
from republish.anonymize.sequential import SEQUENTIAL
from tests.anonymize.sequential.sequential_tables import JOBS as TREE
from tests.anonymize.sequential.sequential_tables import attack_view, people, state, view_contract


def table(names, rows):
    """Distinct rows and the records that each stands for, as a release remembers them."""
    return pl.DataFrame(rows, schema=[*names, "records"], orient="row")


def published(view):
    """The rows of a remembered view one by one."""
    return view.select(pl.exclude("records").repeat_by("records").explode())


def test_the_same_table_again_and_again_never_shows_more():
    """Of 10,000 people half are Bankers, 90 % of them with HIV, and half Drivers, 10 %."""
    columns = [
        {
            "name": "job",
            "kind": "category",
            "hierarchy": [["Banker", "Professional", "ANY"], ["Driver", "Worker", "ANY"]],
        },
        {"name": "disease", "kind": "category", "order": ["HIV", "flu"], "keep": True},
    ]
    wanted = view_contract(columns, requirement="linkability", k={"HIV": 0.7}, x=["job"], y=["disease"])
    as_it_is = table(
        ["job", "disease"],
        [("Banker", "HIV", 4500), ("Banker", "flu", 500), ("Driver", "HIV", 500), ("Driver", "flu", 4500)],
    )
    cut = table(["job", "disease"], [("ANY", "HIV", 5000), ("ANY", "flu", 5000)])
    jobs, diseases = published(as_it_is)
    rows = people(job=jobs, disease=diseases)
    earlier = cut.rename({"job": "column_0", "disease": "column_1"})
    before = state(**{f"view_{n}": earlier for n in range(1, 9)})
    made = SEQUENTIAL.release(rows, wanted, before, 9, None)
    assert made.published["view"].equals(published(cut))
    for view, confidence in ((cut, 0.5), (as_it_is, 0.9)):
        released = replace(made, published={"view": published(view)})
        found = attack_view(released, rows, wanted, views=[published(cut)] * 8)
        assert found.tables["join_privacy"]["found"].item() == confidence


JOBS = {"Banker": (3000, 27, 30), "Driver": (2999, 31, 310), "Diver": (7, 1, 20)}
"""For each job the records in every view; in the table of diseases those with HIV, and all."""


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("views", [1, 4, 20, 150])
def test_confidences_are_exact_over_however_many_releases(views):
    """Names are joined by jobs that are not in X, so counts of jobs add up; Bob's are a trifle of them."""
    infected, everybody = (
        sum(JOBS[job][0] ** (views + 1) * JOBS[job][end] for job in ("Banker", "Driver")) for end in (1, 2)
    )
    confidence = infected / everybody  # Python's whole numbers have no end: this is rounded once
    kept, broken = (_contract(k) for k in (confidence, float(np.nextafter(confidence, 0))))
    rows = people(
        name=["Bob" if job == "Diver" else "Alice" for job, (many, *_) in JOBS.items() for _ in range(many)],
        job=[job for job, (many, *_) in JOBS.items() for _ in range(many)],
    )
    diseases = table(
        ["column_0", "column_1"],
        [
            (job, disease, many)
            for job, (_, ill, everybody) in JOBS.items()
            for disease, many in (("HIV", ill), ("flu", everybody - ill))
        ],
    )
    view = table(["column_0", "column_1"], [("ANY", job, many) for job, (many, *_) in JOBS.items()])
    before = state(diseases, **{f"view_{n}": view for n in range(1, views + 1)})
    made = SEQUENTIAL.release(rows, kept, before, views + 1, None)
    assert set(made.published["view"]["name"]) == {"Alice", "Bob"}
    for contract in (kept, broken):
        earlier = [published(view).rename({"column_0": "name", "column_1": "job"})] * views
        found = attack_view(made, rows, contract, previous=[diseases], views=earlier)
        assert found.tables["join_privacy"].select("found", "broken").row(0) == (
            confidence,
            0 if contract is kept else 5999,
        )
    try:
        made = SEQUENTIAL.release(rows, broken, before, views + 1, None)
        assert set(made.published["view"]["name"]) == {"ANY"}
    except NotEligible:  # with so many releases, Bob makes no difference that a confidence shows
        assert views > 1


def _contract(k):
    columns = [
        {"name": "name", "kind": "category", "order": ["Alice", "Bob"]},
        {"name": "job", "kind": "category", "order": list(JOBS), "keep": True},
    ]
    return view_contract(
        columns,
        requirement="linkability",
        k={"HIV": k},
        x=["name"],
        y=["disease"],
        previous=[{"path": "t2", "columns": ["job", "disease"]}],
    )


def test_numbers_of_linked_values_beyond_what_a_float_holds_leave_a_view_as_it_is():
    """Every job is linked to 10 ** 8 visits of each clinic, and so to 10 ** 320 combinations of visits."""
    visits = [f"visit {clinic}" for clinic in range(40)]
    wanted = view_contract(
        [{"name": "job", "kind": "category", "hierarchy": TREE}],
        x=["job"],
        y=visits,
        previous=[{"path": one, "columns": ["job"], "record": one} for one in visits],
    )
    jobs = [leaf for leaf, *_ in TREE]
    clinic = table(["column_0"], [(job, 10**8) for job in jobs])
    made = SEQUENTIAL.release(people(job=jobs), wanted, state(*[clinic] * len(visits)), 1, None)
    assert set(made.published["view"]["job"]) == set(jobs)


def _second_of_a_series(names):
    """The contract of a view whose first, of the same people, multiplies records of the join; and t2."""
    jobs = {"name": "job", "kind": "category", "hierarchy": [["j0", "ANY"], ["j1", "ANY"]], "keep": True}
    wanted = view_contract(
        [names, jobs],
        requirement="linkability",
        k={"HIV": 0.6},
        x=["name"],
        y=["disease"],
        previous=[{"path": "t2", "columns": ["job", "disease"]}],
    )
    return wanted, table(["column_0", "column_1"], [("j0", "HIV", 1), ("j0", "flu", 1), ("j1", "HIV", 1)])


NAMES = {
    "name": "name",
    "kind": "category",
    "hierarchy": [[f"n{one}", f"g{one // 2}", "ANY"] for one in range(4)],
}
AGES = {"name": "name", "kind": "number", "domain": [0, 3]}


def test_a_view_is_attacked_in_the_join_with_other_products_alone_too():
    """With the first view 3 of 5 have HIV, without it 2 of 3."""
    wanted, diseases = _second_of_a_series(NAMES)
    rows = people(name=["n0", "n1", "n0"], job=["j0", "j0", "j1"])
    first = pl.DataFrame({"name": ["g0", "g0", "g0"], "job": ["j0", "j0", "j1"]})
    made = SEQUENTIAL.release(rows, wanted, state(diseases), 1, None)
    assert made.published["view"].equals(first)
    second = first.with_columns(name=pl.Series(["n0", "n1", "n0"]))
    found = attack_view(
        replace(made, published={"view": second}), rows, wanted, previous=[diseases], views=[first]
    )
    assert found.tables["join_privacy"]["found"].item() == pytest.approx(2 / 3)
    assert found.tables["join_privacy"]["broken"].item() == 2


@pytest.mark.parametrize(
    ("column", "values", "published"),
    [(NAMES, ["n0", "n1", "n0"], {"g0"}), (AGES, [0, 1, 0], {"[0-3]"})],
    ids=["categories", "numbers"],
)
def test_a_view_is_made_for_the_join_with_other_products_alone_too(column, values, published):
    """The finer view would be safe in the join with everything."""
    wanted, diseases = _second_of_a_series(column)
    rows = people(name=values, job=["j0", "j0", "j1"])
    first = SEQUENTIAL.release(rows, wanted, state(diseases), 1, None)
    second = SEQUENTIAL.release(rows, wanted, first.state, 2, None)
    assert set(second.published["view"]["name"]) == published


@pytest.mark.parametrize(
    ("own", "confidence"), [(False, 2 / 3), (True, 4 / 5)], ids=["the view alone", "with its series alone"]
)
def test_a_view_is_made_for_readers_who_do_not_join_what_hides_its_values(own, confidence):
    """2 of 3 of n0 have HIV; five records of j1 in the other product's table make them 2 of 7 in the join."""
    disease = {"name": "disease", "kind": "category", "order": ["HIV", "flu"], "keep": True}
    jobs = {"name": "job", "kind": "category", "hierarchy": [["j0", "ANY"], ["j1", "ANY"]], "keep": True}
    wanted = view_contract(
        [NAMES, jobs, disease],
        requirement="linkability",
        k={"HIV": 0.6},
        x=["name"],
        y=["disease"],
        previous=[{"path": "t2", "columns": ["job"]}],
    )
    rows = people(
        name=["n0", "n0", "n0", "n1", "n1"],
        job=["j0", "j0", "j1", "j0", "j0"],
        disease=["HIV", "HIV", "flu", "flu", "flu"],
    )
    as_it_is = rows.drop("pseudonym").rename({"column_0": "name", "column_1": "job", "column_2": "disease"})
    other = table(["column_0"], [("j0", 1), ("j1", 5)])
    made = SEQUENTIAL.release(rows, wanted, state(other), 1, None)
    views = []
    if own:
        views = [made.published["view"]]
        made = SEQUENTIAL.release(rows, wanted, made.state, 2, None)
    assert set(made.published["view"]["name"]) == {"g0"}
    bare = replace(made, published={"view": as_it_is})
    found = attack_view(bare, rows, wanted, previous=[other], views=views).tables["join_privacy"]
    assert found.select("found", "broken").row(0) == (pytest.approx(confidence), 3)
