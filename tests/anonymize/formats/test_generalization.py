"""Intervals, minimum widths and canonical order, by hand."""

import datetime as dt
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.formats.generalization import GENERALIZATION, SHOWN, generalize
from republish.anonymize.people.codes import encode_columns
from tests.series import make_contract


def intervals(attribute, width, *groups):
    """The published intervals of groups of people with these values of one attribute."""
    contract = make_contract([attribute], {attribute: width} if width else None)
    attribute = contract.quasi_identifiers[0].name
    (qi,) = contract.quasi_identifiers
    people = pl.DataFrame({"qi_0": [value for group in groups for value in group]}, schema={"qi_0": qi.dtype})
    number = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    published = generalize(
        encode_columns(people, contract),
        pl.Series([str(row) for row in range(len(number))]),
        number,
        np.zeros(len(number), bool),
        contract,
    )
    by_group = dict(zip(published.group_id.tolist(), number.tolist(), strict=True))
    boxes = published.tables["microdata"].unique("group_id")
    rows = boxes.select("group_id", f"{attribute}_low", f"{attribute}_high").rows()
    found = {by_group[group]: (low, high) for group, low, high in rows}
    return [found[group] for group in range(len(groups))]


@pytest.mark.parametrize(
    ("width", "said"), [(0, ""), (1, ""), (5, ", rounded down to the end of a cell of min_width")]
)
def test_an_end_is_called_lowest_only_where_it_is(width, said):
    columns = GENERALIZATION.columns(make_contract(["age"], {"age": width} if width else None))
    low = next(one for one in columns["microdata"] if one.name == "age_low")
    assert low.description == f"lowest age in the group{said}"


def test_without_a_minimum_width_intervals_are_the_smallest_there_are():
    assert intervals("age", 0, [30, 41, 35], [7]) == [(30, 41), (7, 7)]


@pytest.mark.parametrize(
    ("width", "ages", "published"),
    [
        (10, [34], (30, 39)),
        (10, [34, 37], (30, 39)),
        (10, [38, 41], (30, 49)),  # two cells: a window of 10 around them would give them away
        (10, [30, 39], (30, 39)),
        (10, [31, 40], (30, 49)),  # ten ages are wide enough, and their ends would be two people's own
        (10, [7, 93], (0, 99)),
        (10, [0, 120], (0, 120)),
        (10, [0], (0, 9)),
        (10, [120], (110, 120)),  # the last cell takes what is left over
        (10, [110], (110, 120)),
        (10, [109], (100, 109)),
        (50, [120], (50, 120)),
        (121, [60], (0, 120)),
        (1, [60], (60, 60)),
    ],
)
def test_an_interval_ends_where_cells_of_a_grid_over_the_domain_do(width, ages, published):
    assert intervals("age", width, ages) == [published]


def test_the_grid_is_anchored_at_the_domains_lower_end():
    assert intervals("zipcode", 2000, [11_999], [12_000]) == [(10_000, 11_999), (12_000, 13_999)]


def test_dates_are_widened_in_days_and_stay_dates():
    first = dt.date(1999, 12, 30)
    assert intervals("admitted", 30, [first + dt.timedelta(29)], [first + dt.timedelta(30)]) == [
        (first, first + dt.timedelta(29)),
        (first + dt.timedelta(30), first + dt.timedelta(59)),
    ]


def test_categories_are_widened_in_labels_in_the_contracts_order():
    assert intervals("town", 0, ["Oslo", "Zürich"]) == [("Zürich", "Oslo")]
    assert intervals("town", 2, ["Zürich"], ["Bari"], ["a town"]) == [
        ("Ærø", "Zürich"),
        ("Oslo", "a town"),
        ("Oslo", "a town"),
    ]


def test_leaves_of_a_hierarchy_are_ordered_from_left_to_right():
    assert intervals("born_in", 0, ["Mali", "Peru"], ["Chad", "Mali"]) == [("Peru", "Mali"), ("Chad", "Mali")]


@pytest.mark.parametrize(("attribute", "value"), [("planet", "Earth"), ("floor", -3)])
def test_a_domain_of_one_value_is_published_as_it_is(attribute, value):
    assert intervals(attribute, 0, [value]) == intervals(attribute, 1, [value]) == [(value, value)]


@settings(max_examples=80)
@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.floats(1e-4, 1),
    st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_fractions_are_covered_and_no_narrower_than_promised_whatever_rounding_does(
    low, length, share, places
):
    high = low + length
    width = min(share * length, high - low)
    weight = {"name": "weight", "kind": "number", "domain": [low, high], "min_width": width}
    contract = make_contract([weight])
    values = [min(low + place * (high - low), high) for place in places]
    published = generalize(
        pl.DataFrame({"qi_0": values}),
        pl.Series([str(row) for row in range(len(values))]),
        np.zeros(len(values), np.int64),
        np.zeros(len(values), bool),
        contract,
    ).tables["microdata"]
    bottom, top = published["weight_low"][0], published["weight_high"][0]
    assert low <= bottom <= min(values)
    assert max(values) <= top <= high
    assert top - bottom >= width


@pytest.mark.slow("takes more than a second")
@settings(max_examples=100)
@given(
    st.sampled_from(
        [(0.0, 1e6, 500.0), (0.0, 1.0, 0.1), (-7.3, 11.9, 0.7), (1e6, 1e6 + 1, 1e-3), (-0.5, 2.25, 0.25)]
    ),
    st.integers(0, 2000),
    st.integers(-3, 3),
)
def test_the_end_of_a_fraction_is_a_line_of_the_grid_however_near_to_it_the_value_is(domain, line, steps):
    low, high, width = domain
    weight = {"name": "weight", "kind": "number", "domain": [low, high], "min_width": width}
    near = [low]
    while len(near) < 2000 and near[-1] + width <= high:
        near.append(near[-1] + width)
    value = near[line % len(near)]
    for _ in range(abs(steps)):
        value = np.nextafter(value, np.inf if steps > 0 else -np.inf)
    value = float(np.clip(value, low, high))
    middles = [[min(low + (cell + 0.5) * width, high)] for cell in range(int((high - low) / width) + 1)]
    lines = {end for group in intervals(weight, 0, *middles) for end in group}
    ((bottom, top),) = intervals(weight, 0, [value])
    assert {bottom, top} <= lines
    assert bottom <= value <= top


def test_lines_of_the_grid_are_round_numbers_where_floats_have_them():
    income = {"name": "income", "kind": "number", "domain": [0.0, 1e6], "min_width": 500.0}
    assert intervals(income, 0, [499.99999, 1203.17], [999_999.5]) == [(0.0, 1500.0), (999_500.0, 1e6)]


def test_fractions_in_one_cell_are_published_alike():
    cells = intervals("weight", 0.1, *([0.5 + 0.1 * step / 10] for step in range(40)))
    assert all(one[1] == other[0] or one == other for one, other in pairwise(cells))
    assert len(set(cells)) == 4


def test_a_counterfeit_adds_a_row_and_a_count_and_no_width():
    contract = make_contract(["age"])
    published = generalize(
        pl.DataFrame({"qi_0": [70, None, 30]}),
        pl.Series(["flu", "gout", "gout"]),
        np.array([0, 0, 1]),
        np.array([False, True, False]),
        contract,
    )
    assert published.tables["microdata"].rows() == [
        (1, 30, 30, "gout"),
        (2, 70, 70, "flu"),
        (2, 70, 70, "gout"),
    ]
    assert published.tables["counterfeits"].rows() == [(2, 1)]
    assert published.group_id.tolist() == [2, 2, 1]


def test_groups_are_numbered_by_box_then_signature_then_counterfeits():
    contract = make_contract(["age"])
    values = ["b", "c", "a", "c", "a", "b", "a", "b"]
    published = generalize(
        pl.DataFrame({"qi_0": [5, 5, 5, 5, 5, 5, 5, None]}),
        pl.Series(values),
        np.array([0, 0, 1, 1, 2, 2, 3, 3]),
        np.array([False] * 7 + [True]),
        contract,
    )
    assert published.group_id.tolist() == [4, 4, 3, 3, 1, 1, 2, 2]
    assert published.tables["counterfeits"].rows() == [(2, 1)]


def test_numbers_as_values_are_ordered_as_numbers():
    contract = make_contract(["age"])
    published = generalize(
        pl.DataFrame({"qi_0": [5, 5]}), pl.Series([10, 9]), np.array([0, 1]), np.zeros(2, bool), contract
    )
    assert published.tables["microdata"]["value"].to_list() == [9, 10]


def test_a_chart_of_many_columns_names_those_with_the_widest_intervals():
    contract = make_contract([{"name": f"q{n}", "kind": "number", "domain": [0, 99]} for n in range(60)])
    codes = pl.DataFrame({column: [0, n] for n, (column, _) in enumerate(contract.attributes())})
    published = generalize(codes, pl.Series(["x", "y"]), np.zeros(2, np.int64), np.zeros(2, bool), contract)
    tables = GENERALIZATION.internal(published.tables, contract)
    (chart,) = GENERALIZATION.plots(tables, contract)
    assert [line.name for line in chart.lines] == [*(f"q{n}" for n in range(59, 49, -1)), *[None] * 50]
    assert chart.others == "50 others, narrower"
    assert [line.points for line in chart.lines] == [(((n + 1) / 100, 1.0),) for n in range(59, -1, -1)]


def test_a_chart_has_the_share_of_groups_up_to_each_width_and_few_points_of_many_groups():
    contract = make_contract([{"name": "age", "kind": "number", "domain": [0, 9_999]}])
    ages = np.repeat(np.arange(2_000), 2)
    ages[1::2] += np.arange(2_000) // 2  # a thousand widths, each of two groups
    groups = np.repeat(np.arange(2_000), 2)
    published = generalize(
        pl.DataFrame({"qi_0": ages}), pl.Series(["x"] * 4_000), groups, np.zeros(4_000, bool), contract
    )
    (chart,) = GENERALIZATION.plots(GENERALIZATION.internal(published.tables, contract), contract)
    (line,) = chart.lines
    assert len(line.points) == SHOWN
    assert all(y == pytest.approx(round(10_000 * x) / 1_000) for x, y in line.points)
    assert line.points[-1] == (0.1, 1.0)


def test_a_chart_of_no_groups_has_no_points():
    contract = make_contract(["age"])
    published = generalize(
        pl.DataFrame({"qi_0": []}, schema={"qi_0": pl.Int64}),
        pl.Series([], dtype=pl.String),
        np.zeros(0, np.int64),
        np.zeros(0, bool),
        contract,
    )
    (chart,) = GENERALIZATION.plots(GENERALIZATION.internal(published.tables, contract), contract)
    assert [line.points for line in chart.lines] == [()]
