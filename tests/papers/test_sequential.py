"""Wang and Fung, Anonymizing Sequential Releases, KDD 2006: the examples, by number."""

from collections import Counter

import pytest

from republish.anonymize.attack.join import Domains, Release, join_attack
from republish.anonymize.errors import NotEligible, SnapshotError
from republish.anonymize.sequential import SEQUENTIAL
from republish.anonymize.sequential.matching import read_earlier
from tests.anonymize.sequential import executed_join
from tests.anonymize.sequential.sequential_tables import people, state, table, view_contract
from tests.papers.linking import code_published, linking

NAMES = ["Alice", "Alice", "Bob", "Bob", "Cathy"]
JOBS = ["Banker", "Banker", "Clerk", "Driver", "Engineer"]
CLASSES = ["c1", "c1", "c2", "c3", "c4"]
DISEASES = ["Cancer", "Cancer", "HIV", "Cancer", "HIV"]
COLUMNS = [
    {"name": "name", "kind": "category", "order": ["Alice", "Bob", "Cathy"]},
    {"name": "job", "kind": "category", "order": ["Banker", "Clerk", "Driver", "Engineer"]},
    {"name": "class", "kind": "category", "order": ["c1", "c2", "c3", "c4"], "keep": True},
]
T1 = {"name": NAMES, "job": JOBS, "class": CLASSES}
T2 = {"job": JOBS, "disease": DISEASES}
PREVIOUS = [{"path": "t2.parquet", "columns": ["job", "disease"], "record": "t2"}]


def records(columns):
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def contract(x, y, keep=(), **principle):
    kept = [{**column, "keep": True} if column["name"] in keep else column for column in COLUMNS]
    return view_contract(kept, x=x, y=y, previous=PREVIOUS, **principle)


def found(wanted):
    """What T1, as it is, links when it is joined with T2: by counts, record by record, and by the attack."""
    published = code_published(table(**T1), wanted.columns, "T1")
    earlier = [read_earlier(table(**T2), ["job", "disease"], wanted.columns, "T2", "t2")]
    counted = linking(published, earlier, wanted)
    assert counted.safety == pytest.approx(executed_join.safety(records(T1), [records(T2)], wanted))
    return counted


def attack(wanted, view=T1, **promised):
    hierarchies = {column.name: column.paths for column in wanted.columns}
    (found,) = join_attack(
        Release(table(**view), ("name", "job", "class"), "pid"),
        [Release(table(**T2), ("job", "disease"), "t2")],
        Domains(hierarchies),
        wanted.principle.x,
        wanted.principle.y,
        joins=[[0]],
        **promised,
    )
    return found


def test_table_1_the_join_has_seven_rows():
    wanted = contract(["name"], ["disease"], keep=["job"])
    joined = Counter(
        (ours["name"], ours["job"], theirs["disease"], ours["class"])
        for (_, ours), (_, theirs) in executed_join.join(records(T1), [records(T2)], wanted)
    )
    assert joined == {
        ("Alice", "Banker", "Cancer", "c1"): 4,
        ("Bob", "Clerk", "HIV", "c2"): 1,
        ("Bob", "Driver", "Cancer", "c3"): 1,
        ("Cathy", "Engineer", "HIV", "c4"): 1,
    }
    assert attack(wanted, linked_values=2).records == 7


def test_example_1_joining_identifies_bob_with_hiv():
    # k-anonymity on {Name, Disease}: the records of the join that each value on X is linked to.
    wanted = contract(["name", "disease"], ["pid", "t2"], keep=["job"], k=2)
    groups = executed_join.values_on_x(records(T1), [records(T2)], wanted)
    assert {key: len(matches) for key, matches in groups.items()} == {
        ("Alice", "Cancer"): 4, ("Bob", "HIV"): 1, ("Bob", "Cancer"): 1, ("Cathy", "HIV"): 1,
    }  # fmt: skip
    assert found(wanted).safety == 1
    assert attack(wanted, linked_values=2).linked_values == 1
    assert attack(wanted, linked_values=2).broken == 3  # both records of Bob, and Cathy's


def test_example_1_joining_infers_cancer_for_alice():
    wanted = contract(["name"], ["disease"], keep=["job"], requirement="linkability", k=0.9)
    assert found(wanted).safety == pytest.approx(0.9 - 1.0)
    assert attack(wanted, limits={"disease": 0.9}).linkability == 1.0


def test_table_1_is_released_so_that_nobody_is_identified():
    # With job in x a lossy join hides who has HIV: T1.job is generalized, and T2.job is part of X.
    wanted = contract(["name", "job"], ["pid"], k=2, information="class:class")
    before = state(table(**T2))
    candidate = SEQUENTIAL.release(people(**T1), wanted, before, 1, None)
    view = candidate.published["view"]
    assert executed_join.safety(view.to_dicts(), [records(T2)], wanted) >= 2
    assert attack(wanted, view.to_dict(as_series=False), linked_values=2).broken == 0
    assert found(contract(["name", "job"], ["pid"], keep=["name", "job"])).safety == 1


def test_one_disease_a_job_leaves_nothing_to_generalize():
    # T2 links Banker to Cancer alone, whatever T1 says: X has T2.job, so no view satisfies k = 2.
    wanted = contract(["name", "job"], ["disease"], k=2)
    with pytest.raises(NotEligible, match=r"most general.*linked to 1 of disease.*no generalization"):
        SEQUENTIAL.release(people(**T1), wanted, state(table(**T2)), 1, None)


def test_without_the_common_column_in_x_names_are_generalized():
    wanted = contract(["name"], ["disease"], keep=["job"], k=2)
    candidate = SEQUENTIAL.release(people(**T1), wanted, state(table(**T2)), 1, None)
    assert candidate.published["view"]["name"].to_list() == ["ANY"] * 5


def test_example_3_confidence_of_hiv_is_nine_in_ten():
    columns = [
        {"name": "job", "kind": "category", "order": ["j"], "keep": True},
        {"name": "test", "kind": "category", "order": ["HIV", "Diabetes"], "keep": True},
    ]
    wanted = view_contract(columns, requirement="linkability", k={"HIV": 0.8}, x=["job"], y=["test"])
    view = table(job=["j"] * 10, test=["HIV"] * 9 + ["Diabetes"])
    on_its_own = linking(code_published(view, wanted.columns, "T1"), [], wanted)
    assert on_its_own.safety == pytest.approx(0.8 - 0.9)


SECTION_4 = {
    "columns": [
        {"name": "C", "kind": "category", "order": ["c1", "c2"], "keep": True},
        {
            "name": "D",
            "kind": "category",
            "hierarchy": [["d1", "d", "ANY"], ["d2", "d", "ANY"], ["d3", "e", "ANY"]],
        },
    ],
    "x": ["C", "D"],
    "y": ["Y"],
    "previous": [{"path": "t2", "columns": ["D", "Y"]}],
}
SECTION_4_T2 = {"D": ["d3", "d3", "d1"], "Y": ["y3", "y2", "y1"]}


@pytest.mark.parametrize(("d", "least"), [("d", 1), ("d2", 2)])
def test_section_4_specializing_raises_anonymity_where_a_record_becomes_dangling(d, least):
    wanted = view_contract(**SECTION_4)
    view = {"C": ["c1", "c2"], "D": ["d3", d]}
    published = code_published(table(**view), wanted.columns, "T1")
    earlier = [read_earlier(table(**SECTION_4_T2), ["D", "Y"], wanted.columns, "T2")]
    assert linking(published, earlier, wanted).safety == least
    assert executed_join.safety(records(view), [records(SECTION_4_T2)], wanted) == least


def test_section_4_tables_about_different_populations_are_refused():
    wanted = view_contract(**SECTION_4)
    t1 = people(C=["c1", "c2"], D=["d3", "d2"])
    with pytest.raises(SnapshotError, match=r"1 of its 3 records match no record.*1 of the view's 2 records"):
        SEQUENTIAL.release(t1, wanted, state(table(**SECTION_4_T2)), 1, None)


def test_the_join_would_promise_nothing_to_people_whom_the_earlier_release_lacks():
    """Cathy, the only engineer, is new: she matches nothing, and being alone in the view breaks no limit."""
    wanted = contract(["name", "job"], ["pid"], keep=["name", "job"])
    view = records({"name": ["Alice", "Alice", "Cathy"], "job": ["Clerk", "Clerk", "Engineer"]})
    before = records({"job": ["Clerk", "Clerk"], "disease": ["Cancer", "HIV"]})
    assert executed_join.safety(view, [before], wanted) == 2
    everybody = [*before, {"job": "Engineer", "disease": "Cancer"}]
    assert executed_join.safety(view, [everybody], wanted) == 1


def test_lemma_4_1_needs_y_on_one_side():
    """A_Y(X) may rise by a specialization where Y has columns of both tables, though one population is behind
    them.

    Bob, a driver, has a zip code of many; as ANY he is joined with the one lawyer of z9, and (Bob, ANY,
    Lawyer, z9) is one pair of records. Specialized, this value on X is gone, and each one left has ten.
    """
    people_of_both = [("Bob", "Driver", "z1")] + [("Ann", "Driver", "z1")] * 9
    people_of_both += [("Alice", "Lawyer", "z8")] * 9 + [("Alice", "Lawyer", "z9")]
    names, jobs, zips = zip(*people_of_both, strict=True)
    columns = [
        {"name": "name", "kind": "category", "order": ["Alice", "Ann", "Bob"], "keep": True},
        {"name": "job", "kind": "category", "order": ["Driver", "Lawyer"]},
    ]
    previous = [{"path": "t2", "columns": ["job", "zip"], "record": "t2"}]
    wanted = view_contract(columns, x=["name", "job", "zip"], y=["pid", "t2"], previous=previous)
    t2 = records({"job": jobs, "zip": zips})
    general, special = ({"name": names, "job": job} for job in (["ANY"] * 20, jobs))
    assert executed_join.safety(records(general), [t2], wanted) == 1
    assert executed_join.safety(records(special), [t2], wanted) == 10


def test_case_2_counts_a_value_once_where_the_earlier_release_is_generalized():
    """Y2 is a key of T2, and its record matches two join values of one value on X: it counts once, not
    twice."""
    columns = [
        {"name": "name", "kind": "category", "order": ["Bob"], "keep": True},
        {
            "name": "job",
            "kind": "category",
            "hierarchy": [["Clerk", "Desk", "ANY"], ["Banker", "Desk", "ANY"]],
            "keep": True,
        },
    ]
    previous = [{"path": "t2", "columns": ["job", "zip"], "record": "t2"}]
    wanted = view_contract(columns, x=["name"], y=["t2"], previous=previous)
    view = {"name": ["Bob", "Bob"], "job": ["Clerk", "Banker"]}
    t2 = {"job": ["Desk"], "zip": ["z"]}
    earlier = [read_earlier(table(**t2), ["job", "zip"], wanted.columns, "T2", "t2")]
    assert linking(code_published(table(**view), wanted.columns, "T1"), earlier, wanted).safety == 1
    assert executed_join.safety(records(view), [records(t2)], wanted) == 1
