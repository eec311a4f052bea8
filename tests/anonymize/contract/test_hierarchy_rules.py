"""Hierarchies by a rule: first letters, steps, and periods; each is one tree, whatever its numbers are."""

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.contract.hierarchy import check_hierarchy
from republish.anonymize.contract.hierarchy_rules import paths_by_rule
from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots.sources import read_snapshot, source_of

CONTRACT = """
product: clinic
series: v1
source: {path: "{release}.FORM", date_format: "%d.%m.%Y"}
releases: {first: 2024-01-01}
identifier: id
quasi_identifiers: [{name: x, kind: category, hierarchy: RULE}]
sensitive: SENSITIVE
principle: {name: m_invariance, m: 2}
"""


@pytest.fixture
def clinic(tmp_path):
    def declared(rule, sensitive="{name: ill}", form="csv"):
        text = CONTRACT.replace("RULE", rule).replace("SENSITIVE", sensitive).replace("FORM", form)
        (tmp_path / "clinic.yaml").write_text(text)
        return load_contract(tmp_path / "clinic.yaml")

    return declared


def read(file):
    return read_snapshot(source_of(file, "2024-01-01"))


@given(
    steps=st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True).map(sorted),
    low=st.integers(0, 30),
    width=st.integers(0, 120),
)
def test_steps_are_a_tree_whose_labels_say_what_they_cover(steps, low, width):
    paths = paths_by_rule({"steps": steps, "domain": [low, low + width]}, list)
    assert check_hierarchy(tuple(map(tuple, paths))) == tuple(map(tuple, paths))
    for leaf, *levels, _root in paths:
        for label in levels:
            first, last = map(int, label.split("-"))
            assert first <= int(leaf) <= last
            assert {path[0] for path in paths if label in path} == {str(at) for at in range(first, last + 1)}


def test_steps_that_do_not_divide_each_other():
    paths = paths_by_rule({"steps": [5, 10, 25], "domain": [0, 99]}, list)
    assert list(dict.fromkeys(path[3] for path in paths)) == ["0-29", "30-49", "50-79", "80-99"]


@given(
    codes=st.sets(st.text("AB01.", min_size=1, max_size=6), min_size=1, max_size=30),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True).map(
        lambda one: sorted(one)[::-1]
    ),
)
def test_first_letters_are_a_tree(codes, lengths):
    paths = paths_by_rule({"prefix": lengths, "labels": sorted(codes)}, list)
    assert check_hierarchy(tuple(map(tuple, paths)))
    assert {path[0] for path in paths} == codes


def test_codes_of_a_file(clinic, tmp_path):
    (tmp_path / "icd.csv").write_text("I10.90\nI10.91\nJ45.0\n")
    (tmp_path / "2024-01-01.csv").write_text("id,x,ill\n1,I10.91,a\n2,J45.0,b\n")
    file = clinic("{prefix: [3, 1], labels: icd.csv}")
    assert file.hierarchies == ("icd.csv",)
    (qi,) = file.contract.quasi_identifiers
    assert qi.hierarchy[0] == ("I10.90", "I10", "I", "any")
    assert read(file)["qi_0"].to_list() == ["I10.91", "J45.0"]


def test_a_sensitive_code_is_published_by_its_first_letters(clinic, tmp_path):
    (tmp_path / "2024-01-01.csv").write_text("id,x,ill\n1,3,I10.90\n2,4,J45.0\n3,4,I10\n")
    rule = "{prefix: [3, 1], labels: [I10.90, I10, J45.0]}"
    file = clinic("{steps: [5], domain: [0, 9]}", f"{{name: ill, hierarchy: {rule}, level: 1}}")
    assert read(file)["value"].to_list() == ["I10", "J45", "I10"]


def test_a_group_may_be_a_value_and_a_code_that_is_not_listed_is_compared_with_codes(clinic, tmp_path):
    (tmp_path / "icd.csv").write_text("I10.90\nI10.91\nJ45.0\n")
    rule = "{prefix: [3, 1], labels: icd.csv}"
    file = clinic("{steps: [5], domain: [0, 9]}", f"{{name: ill, hierarchy: {rule}, level: 1}}")
    (tmp_path / "2024-01-01.csv").write_text("id,x,ill\n1,3,I10\n2,4,I10.90\n")
    assert read(file)["value"].to_list() == ["I10", "I10"]
    (tmp_path / "2024-01-01.csv").write_text("id,x,ill\n1,3,I10.9\n2,4,K21.0\n")
    with pytest.raises(
        SnapshotError, match=r"ill: 2 of 2 rows are not in the hierarchy \(3 values\)"
    ) as said:
        read(file)
    assert "some are close to I10.9" in str(said.value)
    assert "K21" not in str(said.value)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_dates_by_year_and_quarter(clinic, tmp_path, form):
    table = pl.DataFrame({"id": [1, 2], "x": [dt.date(2024, 3, 31), dt.date(2025, 1, 1)], "ill": ["a", "b"]})
    if form == "csv":
        table.with_columns(pl.col("x").dt.to_string("%d.%m.%Y")).write_csv(tmp_path / "2024-01-01.csv")
    else:
        table.write_parquet(tmp_path / "2024-01-01.parquet")
    file = clinic("{year, quarter, domain: [2024-01-01, 2025-12-31]}", form=form)
    (qi,) = file.contract.quasi_identifiers
    assert qi.hierarchy[-1] == ("2025-12-31", "2025-Q4", "2025", "any")
    assert read(file)["qi_0"].to_list() == ["2024-03-31", "2025-01-01"]


def test_a_date_outside_is_refused(clinic, tmp_path):
    (tmp_path / "2024-01-01.csv").write_text("id,x,ill\n1,01.01.2026,a\n")
    with pytest.raises(SnapshotError, match=r"x: 1 of 1 rows are not in the hierarchy \(731 labels\)"):
        read(clinic("{year, month, domain: [2024-01-01, 2025-12-31]}"))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "{prefix: [1, 3], labels: [a]}",
            "prefix must be whole numbers from 1 on that go down, as in .3, 1.",
        ),
        ("{prefix: [3]}", "must be a file, paths, or one of"),
        ("{prefix: [3], labels: [1]}", "labels must be a list of text, or a file"),
        ("{prefix: [3], labels: []}", "holds no labels"),
        ("{prefix: [3], labels: [a, a]}", "a is in line 1 already"),
        ("{prefix: [3], labels: nowhere.csv}", "nowhere.csv: there is no such file"),
        ("{steps: [10, 5], domain: [0, 9]}", "steps must be whole numbers from 1 on that go up"),
        ("{steps: [5.5], domain: [0, 9]}", "steps must be whole numbers"),
        ("{steps: [], domain: [0, 9]}", "steps must be whole numbers"),
        ("{steps: [5], domain: [9, 0]}", "must go from the lowest to the highest value"),
        ("{steps: [5], domain: [-9, 0]}", "domain must be two whole numbers from 0 on"),
        ("{steps: [5], domain: [0, 1000000000]}", "domain has 1,000,000,001 values"),
        ("{year: 3, domain: [2024-01-01, 2024-12-31]}", "must be a file, paths, or one of"),
        ("{year, domain: [2024-01-01, 2024-13-31]}", "must be a date"),
        ("{week, domain: [2024-01-01, 2024-12-31]}", "must be a file, paths, or one of"),
    ],
)
def test_what_is_no_rule_is_said(clinic, rule, said):
    with pytest.raises(ContractError, match=rf"quasi_identifiers\[x\].hierarchy: .*{said}"):
        clinic(rule)
