"""What is published of views: cuts, labels, intervals, order; and how series of them go on."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.errors import NotEligible, SnapshotError
from republish.anonymize.formats.intervals import number_label, read_number
from republish.anonymize.formats.taxonomy_cuts import CUTS, ViewColumn, cuts_as_json, publish_view
from republish.anonymize.kernels.boxes import Boxes, unmatched
from republish.anonymize.sequential import SEQUENTIAL
from republish.anonymize.sequential.partitions import overlaps
from republish.anonymize.sequential.taxonomy import category_taxonomy
from republish.orchestration.snapshots.previous import enter_previous
from tests.anonymize.sequential import executed_join
from tests.anonymize.sequential.sequential_tables import (
    JOBS,
    NAMES,
    attack_view,
    people,
    state,
    table,
    view_contract,
)

CLASS = {"name": "class", "kind": "category", "order": ["no", "yes"], "keep": True}
AGE = {"name": "age", "kind": "number", "domain": [17, 95]}


def release(view, before=None, number=1, columns=(AGE, CLASS), **principle):
    defaults = {"x": ["age"], "y": ["pid"], "information": "class:class"}
    wanted = view_contract(list(columns), **{**defaults, **principle})
    return SEQUENTIAL.release(people(**view), wanted, before or state(), number, None)


@pytest.mark.slow("measures over many simulated tables")
def test_numbers_are_split_at_the_point_that_tells_most_of_the_class():
    ages = [17, 20, 25, 30, 36, 40, 50, 60]
    made = release({"age": ages, "class": ["no"] * 5 + ["yes"] * 3}, k=3)
    assert made.published["view"]["age"].unique(maintain_order=True).to_list() == ["[17-38)", "[38-95]"]


def test_a_split_lies_between_two_ages_and_is_nobodys():
    made = release({"age": [20, 20, 50, 50], "class": ["no", "no", "yes", "yes"]}, k=2)
    assert set(made.published["view"]["age"]) == {"[17-35)", "[35-95]"}


def test_without_a_class_to_tell_intervals_are_split_evenly():
    made = release({"age": [20, 30, 40, 50], "class": ["no"] * 4}, k=2)
    assert made.published["view"]["age"].to_list() == ["[17-35)", "[17-35)", "[35-95]", "[35-95]"]


@pytest.mark.parametrize("information", ["distortion", "discernibility"])
def test_ages_of_many_people_are_split_as_well(information):
    """What is gained is so large a number that our tolerance is less than its last bit."""
    ages = [age for age in (20, 30, 40, 50) for _ in range(100_000)]
    made = release({"age": ages, "class": ["no"] * len(ages)}, k=100_000, information=information)
    assert set(made.published["view"]["age"]) == {"[17-25)", "[25-35)", "[35-45)", "[45-95]"}


def test_fractions_are_split_between_neighbours():
    income = {"name": "age", "kind": "number", "domain": [0.0, 2.0]}
    made = release(
        {"age": [0.5, 0.75, 1.25, 1.5], "class": ["no", "no", "yes", "yes"]}, columns=(income, CLASS)
    )
    assert set(made.published["view"]["age"]) == {"[0.0-1.0)", "[1.0-2.0]"}


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_labels_of_numbers_are_read_back(a, b):
    domain = (-1e6, 1e6)
    low, high = min(a, b), max(a, b)
    if low < high:
        assert read_number(number_label(low, high, domain), domain) == (low, high) or high == domain[1]


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("[17-38)", (17, 38)),
        ("[38-95]", (38, 96)),
        ("[17, 37]", (17, 38)),
        ("42", (42, 43)),
        ("*", (17, 96)),
        ("[17-37]", (17, 38)),
        ("-2.5e1", (-25, -24)),
        *((label, None) for label in ("x", "[ 17-38)", "[17-38) ", " 42", "1.2.3", "1e999", "\u0664\u0662")),
    ],
)
def test_intervals_of_other_tools_are_read(text, interval):
    assert read_number(text, (17, 95)) == interval


def test_a_hierarchy_with_repeated_labels_has_each_node_once():
    tree = category_taxonomy((("US", "US", "ANY"), ("Rome", "Italy", "ANY"), ("Turin", "Italy", "ANY")))
    assert tree.labels == ("ANY", "US", "Italy", "Rome", "Turin")
    assert tree.leaves == ["US", "Rome", "Turin"]
    assert tree.children.tolist() == [2, 0, 2, 0, 0]


PEOPLE = {
    "name": ["Alice", "Alice", "Bob", "Bob", "Cathy", "Cathy"],
    "job": ["Banker", "Clerk", "Driver", "Driver", "Engineer", "Banker"],
    "class": ["no", "no", "yes", "yes", "no", "yes"],
}
COLUMNS = (
    {"name": "name", "kind": "category", "hierarchy": NAMES},
    {"name": "job", "kind": "category", "hierarchy": JOBS},
    CLASS,
)


def test_the_order_of_people_decides_nothing():
    order = np.random.default_rng(1).permutation(6)
    shuffled = {name: [values[i] for i in order] for name, values in PEOPLE.items()}
    one, other = (release(view, columns=COLUMNS, x=["name", "job"]) for view in (PEOPLE, shuffled))
    assert one.published["view"].equals(other.published["view"])
    assert one.linkage["group_id"].to_list() == [
        other.linkage["group_id"][int(np.argsort(order)[i])] for i in range(6)
    ]


def test_rows_are_sorted_by_all_columns_in_the_order_of_their_cuts():
    columns = [
        ViewColumn("age", np.array([1, 0, 1]), pl.Series(["[17-38)", "[38-95]"]), generalized=True),
        ViewColumn("class", np.array([1, 1, 0]), pl.Series(["no", "yes"]), generalized=False),
    ]
    made = publish_view(columns)
    assert made.view.rows() == [("[17-38)", "yes"), ("[38-95]", "no"), ("[38-95]", "yes")]
    assert made.group_id.tolist() == [2, 1, 2]


def test_wide_tables_are_sorted_too():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 1000, (8, 50))
    columns = [
        ViewColumn(f"c{i}", one, pl.Series(range(1000)), generalized=True) for i, one in enumerate(codes)
    ]
    assert publish_view(columns).view.rows() == sorted(publish_view(columns).view.rows())


def test_cuts_are_described_for_readers():
    wanted = view_contract(list(COLUMNS), x=["name", "job"], y=["pid"])
    made = SEQUENTIAL.release(people(**PEOPLE), wanted, state(), 1, None)
    described = cuts_as_json(made.state.tables[CUTS], wanted.columns)["columns"]
    assert described[2] == {"name": "class", "kind": "category", "published": "as it is"}
    assert [label for node in described[1]["cut"] for label in node["covers"]] == [path[0] for path in JOBS]
    assert {node["label"] for node in described[1]["cut"]} >= set(made.published["view"]["job"])


@pytest.mark.parametrize(
    ("labels", "uncovered", "twice"),
    [
        (["Banker", "Clerk", "Driver", "Driver", "Engineer", "Banker"], 0, 0),
        (["Professional", "Professional", "Worker", "Worker", "Professional", "Professional"], 0, 0),
        (["Banker", "Banker", "Driver", "Driver", "Engineer", "Banker"], 1, 0),
        (["Banker", "Clerk", "Driver", "Driver", "Professional", "Banker"], 0, 2),
        (["Banker", "Clerk", "Driver", "Driver", "Engineer", "unheard of"], 1, 0),
    ],
)
def test_a_value_below_no_label_or_below_two_is_counted(labels, uncovered, twice):
    wanted = view_contract(list(COLUMNS), x=["name", "job"], y=["pid"], k=2)
    made = SEQUENTIAL.release(people(**PEOPLE), wanted, state(), 1, None)
    view = made.published["view"].with_columns(job=pl.Series(labels))
    found = attack_view(replace(made, published={"view": view}), people(**PEOPLE), wanted)
    row = found.tables["taxonomy_cuts"].row(1, named=True)
    assert (row["column"], row["uncovered"], row["covered_twice"]) == ("job", uncovered, twice)


def test_cuts_are_drawn():
    wanted = view_contract([*COLUMNS, AGE], x=["name", "job", "age"], y=["pid"])
    made = SEQUENTIAL.release(people(**PEOPLE, age=[20, 30, 40, 50, 60, 70]), wanted, state(), 1, None)
    charts = SEQUENTIAL.plots(wanted, {"2024-01-01": made.state})
    assert [chart.name for chart in charts] == [
        f"published labels of {name} (its cut)" for name in ("name", "job", "age")
    ]
    names, jobs, ages = charts
    assert {node.name for node in jobs.nodes if node.is_marked} == {
        f"{label}: {records}" for label, records in made.published["view"]["job"].value_counts().iter_rows()
    }
    assert len(names.nodes) == len(names.joins) + 1
    assert sum(round(bar.height * (bar.high - bar.low)) for bar in ages.bars) == 6
    assert SEQUENTIAL.plots(wanted, {}) == []


def test_a_node_is_drawn_between_the_first_and_the_last_below_it():
    wanted = view_contract([*COLUMNS], x=["name", "job"], y=["pid"])
    made = SEQUENTIAL.release(people(**PEOPLE), wanted, state(), 1, None)
    for chart in SEQUENTIAL.plots(wanted, {"2024-01-01": made.state}):
        below = {}
        for join in chart.joins:
            below.setdefault(chart.nodes[join.one], []).append(chart.nodes[join.other].y)
        assert below
        assert all(node.y == (max(heights) + min(heights)) / 2 for node, heights in below.items())


def test_a_series_is_joined_with_all_of_its_earlier_releases():
    wanted = view_contract(list(COLUMNS), x=["name", "job"], y=["pid"], k=2, information="class:class")
    first = SEQUENTIAL.release(people(**PEOPLE), wanted, state(), 1, None)
    second = SEQUENTIAL.release(people(**PEOPLE), wanted, first.state, 2, None)
    third = SEQUENTIAL.release(people(**PEOPLE), wanted, second.state, 3, None)
    assert third.figures.earlier_releases == 2
    assert (third.figures.counterfeits, third.figures.held_back) == (0, 0)
    views = [made.published["view"].to_dicts() for made in (third, first, second)]
    assert executed_join.safety(views[0], views[1:], wanted) >= 2
    before = [made.published["view"] for made in (first, second)]
    (found,) = (
        attack_view(third, people(**PEOPLE), wanted, views=before).tables["join_privacy"].rows(named=True)
    )
    assert found["found"] == executed_join.safety(views[0], views[1:], wanted)
    assert found["earlier_releases"] == 2


def test_a_series_with_other_people_is_refused():
    wanted = view_contract(list(COLUMNS), x=["name", "job"], y=["pid"], k=2)
    first = SEQUENTIAL.release(people(**PEOPLE), wanted, state(), 1, None)
    others = {**PEOPLE, "class": ["yes"] * 6}
    with pytest.raises(SnapshotError, match=r"release 1 of the series is not population-related"):
        SEQUENTIAL.release(people(**others), wanted, first.state, 2, None)


@pytest.mark.parametrize(
    ("infected", "all_of_them", "k"), [(3, 5, 0.6), (7, 10, 0.7), (19, 20, 0.95), (2, 3, 2 / 3)]
)
@pytest.mark.parametrize("job_in_x", [True, False])
def test_a_confidence_of_exactly_k_is_kept_and_one_above_it_is_not(infected, all_of_them, k, job_in_x):
    job = {"name": "job", "kind": "category", "order": ["Clerk"], "keep": not job_in_x}
    name = {"name": "name", "kind": "category", "order": ["Di"]}
    wanted, stricter = (
        view_contract(
            [name, job],
            requirement="linkability",
            k=limit,
            x=["name", "job"] if job_in_x else ["name"],
            y=["disease"],
            previous=[{"path": "t2", "columns": ["job", "disease"]}],
        )
        for limit in (k, k - 1e-6)
    )
    rows = people(name=["Di"] * all_of_them, job=["Clerk"] * all_of_them)
    t2 = table(job=["Clerk"] * all_of_them, disease=["HIV"] * infected + ["flu"] * (all_of_them - infected))
    made = SEQUENTIAL.release(rows, wanted, state(t2), 1, None)
    assert attack_view(made, rows, wanted, previous=[t2]).holds
    assert not attack_view(made, rows, stricter, previous=[t2]).holds
    with pytest.raises(NotEligible, match=f"with a confidence of {k:.6g}, and k is {k - 1e-6:.6g}"):
        SEQUENTIAL.release(rows, stricter, state(t2), 1, None)


def test_inconsistent_pairs_are_no_matches():
    columns = [{"name": "sex", "kind": "category", "order": ["F", "M"]}]
    previous = [{"path": "t2", "columns": ["disease"]}]
    t2 = {"disease": ["pregnant", "flu", "cold"]}
    view = {"sex": ["F", "M", "M"]}
    principle = {"x": ["sex"], "y": ["disease"], "previous": previous}
    for inconsistent, cut in (
        ({}, {"F", "M"}),
        ({"sex:disease": [["M", "pregnant"], ["M", "flu"]]}, {"ANY"}),
    ):
        wanted = view_contract(
            columns, inconsistent=inconsistent, k=3 if not inconsistent else 2, **principle
        )
        made = SEQUENTIAL.release(people(**view), wanted, state(table(**t2)), 1, None)
        assert set(made.published["view"]["sex"]) == cut


def test_an_inconsistent_pair_with_a_column_of_both_tables_is_about_the_labels_below_its_own():
    # No man is a professional: he matches both drivers, of whom one has HIV, and neither clerk.
    columns = [
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
        {"name": "job", "kind": "category", "hierarchy": JOBS, "keep": True},
    ]
    wanted = view_contract(
        columns,
        requirement="linkability",
        k={"HIV": 0.5},
        x=["sex"],
        y=["disease"],
        inconsistent={"sex:job": [["M", "Professional"]]},
        previous=[{"path": "t2", "columns": ["job", "disease"]}],
    )
    t2 = table(job=["Driver", "Driver", "Clerk", "Clerk"], disease=["HIV", "flu"] * 2)
    rows = people(sex=["M", "F"], job=["Driver", "Clerk"])
    made = SEQUENTIAL.release(rows, wanted, state(t2), 1, None)
    assert set(made.published["view"]["sex"]) == {"F", "M"}
    assert attack_view(made, rows, wanted, previous=[t2]).holds
    professional = people(sex=["M", "F"], job=["Clerk", "Driver"])
    with pytest.raises(SnapshotError, match="1 of the view's 2 records match none"):
        SEQUENTIAL.release(professional, wanted, state(t2), 1, None)


def test_generalized_releases_of_republish_are_previous_releases():
    wanted = view_contract(
        [AGE, CLASS], x=["age"], y=["disease"], previous=[{"path": "t2", "columns": ["age", "disease"]}]
    )
    microdata = pl.DataFrame(
        {
            "group_id": [1, 1, 2, 2],
            "age_low": [20, 20, 45, 45],
            "age_high": [30, 30, 60, 60],
            "disease": ["a", "b"] * 2,
        }
    )
    before = state(enter_previous(microdata, wanted.principle.previous[0], wanted))
    made = SEQUENTIAL.release(people(age=[20, 30, 45, 60], **{"class": ["no"] * 4}), wanted, before, 1, None)
    assert made.figures.nodes == 4


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("age", ["[ 17-38)", "40"]),
        ("age", [" 42", "40"]),
        ("age", ["1.2.3", "40"]),
        ("age", [float("nan"), 40.0]),
        ("job", [" Banker", "Driver"]),
        ("job", ["Any", "Driver"]),
    ],
)
def test_labels_that_are_none_are_refused_by_planner_and_attack(column, values):
    view = {"age": [20, 40], "job": ["Banker", "Driver"]}
    declared = [AGE, {"name": "job", "kind": "category", "hierarchy": JOBS}]
    previous = [{"path": "t2", "columns": [column, "disease"]}]
    wanted = view_contract(declared, x=["age", "job"], y=["pid"], previous=previous)
    good, bad = (
        table(**{column: one}, disease=["flu", "HIV"]) for one in (view[column], values)
    )  # fmt: skip
    made = SEQUENTIAL.release(people(**view), wanted, state(good), 1, None)
    for refuses in (
        lambda: SEQUENTIAL.release(people(**view), wanted, state(bad), 1, None),
        lambda: attack_view(made, people(**view), wanted, previous=[bad]),
    ):
        with pytest.raises(SnapshotError, match=r"1 values .*are no (numbers or intervals|labels)"):
            refuses()


@pytest.mark.parametrize(
    ("t2", "confidence"),
    [
        # A group of republish: its jobs lie between two leaves, which are not below one node.
        (
            {"column_0_low": ["Engineer"] * 2, "column_0_high": ["Driver"] * 2, "column_1": ["HIV", "flu"]},
            0.5,
        ),
        # Whoever is a Worker is a Driver, and whoever is in ANY may be anything, as with *.
        ({"column_0": ["Worker", "Driver", "*", "ANY"], "column_1": ["HIV", "flu"] * 2}, 0.5),
        ({"column_0": ["Worker", "Professional"], "column_1": ["HIV", "flu"]}, 1.0),
    ],
)
def test_planner_and_attack_join_labels_and_what_lies_between_two(t2, confidence):
    columns = [{"name": "job", "kind": "category", "hierarchy": JOBS}, CLASS]
    previous = [{"path": "t2", "columns": ["job", "disease"]}]
    wanted = view_contract(
        columns, requirement="linkability", k={"HIV": confidence}, x=["job"], y=["disease"], previous=previous
    )
    view = {"job": ["Engineer", "Driver"], "class": ["no", "yes"]}
    made = SEQUENTIAL.release(people(**view), wanted, state(pl.DataFrame(t2)), 1, None)
    found = attack_view(made, people(**view), wanted, previous=[pl.DataFrame(t2)])
    assert found.tables["join_privacy"]["found"].to_list() == [confidence]
    assert found.tables["join_privacy"].select("view_unmatched", "earlier_unmatched").row(0) == (0, 0)


INTERVALS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=6
)


@given(INTERVALS, INTERVALS)
def test_matching_is_overlap_without_a_common_flag(first, second):
    def arrays(rows):
        low = np.array([[float(low)] for low, _, _ in rows])
        return Boxes(
            low,
            low + np.array([[float(width)] for _, width, _ in rows]),
            np.array([f for *_, f in rows], np.uint64),
        )

    plain = [[a < b + v and b < a + w and not f & g for b, v, g in second] for a, w, f in first]
    alone_first, alone_second = unmatched(arrays(first), arrays(second))
    assert alone_first.tolist() == [not any(row) for row in plain]
    assert alone_second.tolist() == [not any(column) for column in zip(*plain, strict=True)]
    sizes, listed = overlaps(arrays(first), arrays(second))
    assert [rows.tolist() for rows in np.split(listed, np.cumsum(sizes)[:-1])] == [
        [k for k, is_match in enumerate(row) if is_match] for row in plain
    ]
