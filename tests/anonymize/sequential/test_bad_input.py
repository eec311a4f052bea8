"""What can't be released is refused in one clear line."""

import pytest

from republish.anonymize.errors import ContractError, NotEligible, RepublishError, SnapshotError
from republish.anonymize.sequential import SEQUENTIAL
from republish.anonymize.sequential.values import faults_of_previous
from republish.orchestration.snapshots.previous import enter_previous
from tests.anonymize.sequential.sequential_tables import JOBS, people, state, table, view_contract

JOB = {"name": "job", "kind": "category", "hierarchy": JOBS}
AGE = {"name": "age", "kind": "number", "domain": [17, 95]}
CLASS = {"name": "class", "kind": "category", "order": ["c1", "c2"], "keep": True}
T2 = {"path": "t2.parquet", "columns": ["job", "disease"]}
GOOD = {"x": ["job", "age"], "y": ["pid"], "previous": [T2], "information": "class:class"}
JOBS_OF_T2 = {"job": ["Banker", "Driver"], "disease": ["flu", "HIV"]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 1}, r"k \(1\) must be at least 2"),
        ({"k": 0.5}, r"must be a whole number, not 0.5"),
        ({"requirement": "linkability", "y": ["disease"], "k": 0}, r"k \(0\) must be above 0 and at most 1"),
        (
            {"requirement": "linkability", "y": ["disease"], "k": 1.5},
            r"k \(1.5\) must be above 0 and at most 1",
        ),
        ({"requirement": "linkability", "y": ["disease"], "k": {"HIV": 2}}, r"k \(2\) must be above 0"),
        ({"requirement": "linkability", "y": ["disease"], "k": "high"}, r"must be a confidence, 0 < k <= 1"),
        ({"requirement": "linkability", "y": ["class"], "k": {"c9": 0.5}}, r"c9 is no value of class"),
        (
            {"requirement": "linkability", "y": ["class", "disease"], "k": {"HIV": 0.5}},
            r"a mapping of values .* for each",
        ),
        (
            {
                "requirement": "linkability",
                "y": ["class", "disease"],
                "k": {"disease": {"HIV": 0.5}, "class": 1},
            },
            r"a mapping of values .* for each",
        ),
        ({"requirement": "linkability", "k": 0.5}, r"pid are records, whose values nobody infers"),
        ({"x": ["job", "age", "disease"], "y": ["disease", "job"]}, r"x and y overlap in job, disease"),
        (
            {"x": ["job", "age", "salary"]},
            r"salary is a column neither of the view nor of a previous release",
        ),
        ({"y": ["salary"]}, r"salary is a column neither of the view nor of a previous release"),
        ({"x": ["job"]}, r"columns\[age\]: is not in x, so it is published as it is: say keep: true"),
        ({"information": "class:job"}, r"job must be a column of the view that is published as it is"),
        (
            {"information": "entropy"},
            r"entropy is unknown; accepted: class:<column>, distortion, discernibility",
        ),
        ({"x": []}, r"needs at least one column"),
        (
            {"y": ["disease"], "previous": [T2, {**T2, "path": "t3"}]},
            r"disease is a column of 2 previous releases",
        ),
        (
            {
                "requirement": "linkability",
                "y": ["disease"],
                "k": {"HIV": 0.5},
                "previous": [
                    {"path": "t2", "columns": ["job", "zip"]},
                    {"path": "t3", "columns": ["zip", "disease"]},
                ],
            },
            r"zip is a column of 2 previous releases and not of the view: anyone may join these with",
        ),
        ({"previous": [{**T2, "record": "pid"}]}, r"pid names the records of more than one table"),
        (
            {"previous": [{**T2, "columns": ["pid"]}]},
            r"pid names a column, and the records of a table as well",
        ),
        ({"previous": [{**T2, "columns": ["job", "job"]}]}, r"lists job more than once"),
        ({"inconsistent": {"age": [["a", "b"]]}}, r"age is no category column of the view"),
        ({"inconsistent": {"job": [["Pilot", "Driver"]]}}, r"Pilot is no label of the hierarchy of job"),
        ({"inconsistent": {"job:zip": [["Driver", "z"]]}}, r"zip is a column of no previous release"),
        ({"x": [["job"], ["age"]]}, r"principle.x: is a list of requirements, and a contract has one"),
        ({"requirement": ["anonymity", "linkability"]}, r"principle.requirement: is a list of requirements"),
        ({"k": [2, 3]}, r"principle.k: is a list of requirements"),
        ({"unknown": 1}, r"principle.unknown: is unknown; accepted: name, requirement, x, y, k"),
    ],
)
def test_contracts_that_contradict_themselves_are_refused(changes, words):
    with pytest.raises(ContractError, match=words):
        view_contract([JOB, AGE, CLASS], **{**GOOD, **changes})


def test_a_joined_column_that_is_not_in_x_is_told():
    kept = {**JOB, "keep": True}
    (sentence,) = SEQUENTIAL.advice(view_contract([kept, AGE, CLASS], **{**GOOD, "x": ["age"]}))
    assert sentence.startswith(
        "job joins the view with t2.parquet, and is not in x: nothing is promised against"
    )
    by_pair = {**GOOD, "x": ["age"], "previous": [{**T2, "columns": ["disease"]}]}
    pairs = {"inconsistent": {"job:disease": [["Driver", "flu"]]}}
    assert len(SEQUENTIAL.advice(view_contract([kept, AGE, CLASS], **by_pair, **pairs))) == 1
    assert not SEQUENTIAL.advice(view_contract([kept, AGE, CLASS], **by_pair))
    assert not SEQUENTIAL.advice(view_contract([JOB, AGE, CLASS], **GOOD))


@pytest.mark.parametrize("value", ["17.0", "16", "017", "many"])
def test_a_value_that_a_column_of_numbers_cannot_have_is_refused(value):
    with pytest.raises(
        ContractError, match=f"{value} is no value of age: accepted are whole .* from 17 to 95"
    ):
        view_contract(
            [JOB, {**AGE, "keep": True}, CLASS],
            **GOOD | {"requirement": "linkability", "x": ["job"], "y": ["age"], "k": {value: 0.5}},
        )


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({**JOB, "hierarchy": [["a", "n", "ANY"], ["n", "m", "ANY"]]}, r"n names two nodes of the hierarchy"),
        ({**JOB, "min_width": 2}, r"is not for the columns of a view"),
        ({**AGE, "min_width": 2}, r"is not for the columns of a view"),
        ({**AGE, "domain": [15, 95], "step": 5}, r"is not for the columns of a view"),
        ({**JOB, "name": "age"}, r"lists age more than once"),
        ({**JOB, "name": "pid"}, r"pid is the identifier, which is never published"),
    ],
)
def test_columns_that_cannot_be_published_are_refused(column, words):
    with pytest.raises(ContractError, match=words):
        view_contract([column, AGE, CLASS], **{**GOOD, "x": ["age", column["name"]], "y": ["disease"]})


def released(view=None, before=None, number=1, **changes):
    wanted = view_contract([JOB, AGE, CLASS], **{**GOOD, **changes})
    view = {"job": ["Banker", "Driver"], "age": [17, 40], "class": ["c1", "c2"], **(view or {})}
    return SEQUENTIAL.release(people(**view), wanted, before or state(table(**JOBS_OF_T2)), number, None)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ({"job": ["Banker", "Pilot"]}, r"job: 1 records have 1 values that its hierarchy lacks"),
        ({"class": ["c1", "c3"]}, r"class: 1 records have 1 values that its order lacks"),
        ({"age": [16, 96]}, r"age: 2 records lie outside its domain, 17 to 95"),
        ({"job": ["Banker", None]}, r"job: 1 values are missing"),
    ],
)
def test_records_outside_taxonomies_are_refused_without_naming_values(view, words):
    with pytest.raises(SnapshotError, match=words) as refused:
        released(view)
    assert "Pilot" not in str(refused.value)


@pytest.mark.parametrize(
    ("t2", "words"),
    [
        (
            {"job": ["Banker", "Pilot"], "disease": ["flu", "HIV"]},
            r"t2.parquet: 1 values of job are no labels",
        ),
        ({"job": ["Banker", None], "disease": ["flu", "HIV"]}, r"t2.parquet: 1 values are missing"),
        ({"job": [], "disease": []}, r"t2.parquet has no records"),
        (
            {"job": ["Banker", "Engineer", "Clerk"], "disease": ["flu"] * 3},
            r"t2.parquet is not population-related.* 2 of its 3 records .*, and 1 of the view's 2",
        ),
    ],
)
def test_previous_releases_that_cannot_be_joined_are_refused(t2, words):
    with pytest.raises(SnapshotError, match=words):
        released(before=state(table(**t2)))


def test_a_whole_number_is_not_the_next_one():
    """Two people of the view are 40 years old, and nobody is 41."""
    by_age = {"path": "t2.parquet", "columns": ["age", "disease"]}
    wanted = view_contract([{**AGE, "keep": True}, CLASS], **{**GOOD, "x": ["age"], "previous": [by_age]})
    view = people(**{"age": [40, 40, 60, 60], "class": ["c1", "c2"] * 2})

    def joined_with(ages):
        before = state(table(age=ages, disease=["flu", "HIV"] * 2))
        return SEQUENTIAL.release(view, wanted, before, 1, None)

    assert joined_with([40, 40, 60, 60]).published["view"].height == 4
    with pytest.raises(SnapshotError, match=r"2 of its 4 records .*, and 2 of the view's 4"):
        joined_with([41, 41, 60, 60])


def test_more_combinations_than_there_is_room_for_are_refused_before_they_are_made(monkeypatch):
    changes = {"x": ["age"], "requirement": "linkability", "y": ["disease"], "k": 1.0}
    wanted = view_contract([{**JOB, "keep": True}, AGE, CLASS], **{**GOOD, **changes})
    view = people(**{"job": ["Banker", "Driver"], "age": [17, 40], "class": ["c1", "c2"]})
    before = state(table(**JOBS_OF_T2))
    assert SEQUENTIAL.release(view, wanted, before, 1, None).published["view"].height == 2
    monkeypatch.setattr("republish.anonymize.sequential.linked.MOST_COMBINATIONS", 1)
    with pytest.raises(RepublishError, match=r"match the view in 2 combinations of partitions, more than 1"):
        SEQUENTIAL.release(view, wanted, before, 1, None)


def test_a_previous_release_that_was_not_read_is_missed():
    with pytest.raises(SnapshotError, match=r"previous release t2.parquet was not read"):
        released(before=state(cuts=table(a=[1])))


def test_an_earlier_view_that_is_forgotten_is_missed():
    with pytest.raises(SnapshotError, match=r"release 1 of the series is missing"):
        released(number=2)


def test_no_solution_is_told_before_anything_is_searched():
    with pytest.raises(NotEligible, match=r"linked to 2 of pid, and k is 3, so no .*: lower k"):
        released(k=3)


def test_no_solution_for_linkability_names_the_confidence():
    with pytest.raises(
        NotEligible, match=r"implies one of class with a confidence of 0.5, and k is 0.4.*raise k"
    ):
        released(requirement="linkability", y=["class"], k=0.4)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"job": ["Banker"]}, r"t2.parquet lacks disease: it has job"),
        (
            {"job": ["Banker"], "disease": ["flu"], "age": [3]},
            r"has age in common with the view: add it to its columns",
        ),
        ({"job": ["Banker"], "disease": ["flu"], "age_low": [3]}, r"has age in common with the view"),
    ],
)
def test_columns_of_previous_releases_are_all_declared(columns, words):
    wanted = view_contract([JOB, AGE, CLASS], **GOOD)
    released_before = table(**columns)
    named = released_before.rename(dict(zip(released_before.columns, columns, strict=True)))
    with pytest.raises(SnapshotError, match=words):
        enter_previous(named, wanted.principle.previous[0], wanted)


def test_what_an_earlier_view_has_in_x_is_said_also_where_a_release_is_empty():
    """The join would say why it can't be made, and would not say this."""
    contract = view_contract([JOB, AGE, CLASS], **GOOD)
    empty = {"previous_0": table(job=[], disease=[])}
    ((key, message),) = faults_of_previous(contract, empty, [{"x": ["zip"]}])
    assert key == "principle.x"
    assert message.startswith("lacks zip, which x of the earlier view t2.parquet has")
