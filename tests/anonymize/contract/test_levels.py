"""Sensitive values that are published as the groups of a hierarchy."""

import polars as pl
import pytest

from benchmarks.series import contract_of
from republish.anonymize.contract.changes import column_changes, declared_columns
from republish.anonymize.contract.combined import combine
from republish.anonymize.errors import ContractError
from republish.orchestration.snapshots.profile import levels, profile
from republish.orchestration.snapshots.sources import enter
from republish.orchestration.snapshots.validation import conform, snapshot_faults

PATHS = [
    ["flu", "lungs", "body", "any"],
    ["asthma", "lungs", "body", "any"],
    ["gout", "joints", "body", "any"],
    ["fear", "fear and grief", "mind", "any"],
    ["grief", "fear and grief", "mind", "any"],
]
DECLARED = {
    "product": "clinic",
    "series": "v1",
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
    "identifier": "patient",
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
    "principle": {"name": "m_invariance", "m": 2, "people_per_group": 2, "on_value_change": "refuse"},
}


def contract(level, paths=PATHS, **more):
    return contract_of({**DECLARED, "sensitive": {"name": "why", "hierarchy": paths, "level": level, **more}})


@pytest.mark.parametrize(
    ("level", "values"),
    [
        (0, ["flu", "asthma", "gout", "fear", "grief"]),
        (1, ["lungs", "joints", "fear and grief"]),
        (2, ["body", "mind"]),
    ],
)
def test_values_are_those_of_the_level(level, values):
    declared = contract(level)
    assert list(declared.sensitive.values) == values
    again = declared.model_dump(mode="json")["sensitive"]
    assert contract_of({**DECLARED, "sensitive": again}).sensitive == declared.sensitive
    several = contract_of({**DECLARED, "sensitive": [again, {"name": "treatment"}]}).sensitive
    assert several.columns[0] == declared.sensitive
    snapshot = pl.DataFrame(
        {"patient": ["a", "b", "c"], "age": [1, 2, 3], "why": ["asthma", "grief", values[0]]}
    )
    entered = enter(snapshot, declared)
    assert snapshot_faults(entered, declared)["outside_domain"].sum() == 0
    conformed = conform(entered, declared)
    assert set(conformed["value"]) <= set(values)
    assert conform(conformed, declared).equals(conformed)
    unknown = enter(snapshot.with_columns(why=pl.lit("plague")), declared)
    assert snapshot_faults(unknown, declared)["outside_domain"].sum() == 3


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"level": 3}, "level", "must be 0 to 2: the hierarchy has 4 levels, the last is its root"),
        ({"level": -1}, "level", "must be 0 to 2"),
        ({"hierarchy": None, "level": 1}, "level", "is a level of hierarchy: name the file with it"),
        ({"values": ["flu"]}, "values", "follow from hierarchy: leave values out"),
        ({"hierarchy": "why.csv"}, "hierarchy", "names a file (why.csv), and there are no files here"),
        ({"hierarchy": [["flu", "gout", "any"], ["gout", "joints", "any"]]}, "level", "makes gout ambiguous"),
    ],
)
def test_what_is_wrong_with_a_level_is_said_where_it_is(changes, key, words):
    with pytest.raises(ContractError) as refused:
        contract(
            **{
                "level": 1,
                **({} if "hierarchy" not in changes else {"paths": changes.pop("hierarchy")}),
                **changes,
            }
        )
    assert words in dict(refused.value.faults)[f"sensitive.{key}"]


def test_another_name_of_a_value_has_a_line_of_its_own():
    for name in ("lungs", "flu"):  # on the level that is published, or below
        with pytest.raises(ContractError, match=f"give chest a line of its own there, .* above {name}"):
            contract(1, renamed={name: "chest"})


def test_a_series_keeps_its_level_and_is_told_of_values_that_move():
    before = declared_columns(contract(1))
    assert [(one.name, one.verdict) for one in column_changes(before, contract(2))] == [
        ("sensitive.level", "new series")
    ]
    moved = [["gout", "lungs", "body", "any"] if path[0] == "gout" else path for path in PATHS]
    more = [["knee", "joints", "body", "any"]]
    changes = {one.name: one for one in column_changes(before, contract(1, [*moved, *more]))}
    assert changes["sensitive.hierarchy"].says == "1 values are in another group"
    assert changes["sensitive.hierarchy"].verdict == "consent"
    assert not column_changes(before, contract(1, [*PATHS, *more]))


def test_a_profile_has_each_sensitive_column_and_each_coarser_level():
    several = [{"name": "why", "hierarchy": PATHS, "level": 1}, {"name": "treatment"}]
    declared = contract_of({**DECLARED, "sensitive": several})
    whys = ["flu", "asthma", "gout", "fear"]
    snapshot = pl.DataFrame({"patient": list("abcd"), "age": [1, 2, 3, 4], "why": whys, "treatment": "rest"})
    people = combine(conform(enter(snapshot, declared), declared), declared)
    assert [row[0] for row in profile(people, declared)] == ["patient", "age", "why", "treatment"]
    assert list(levels(people, declared)) == ["why at level 2: 2 values, the most frequent that of 75.0 %"]
    assert list(levels(people.clear(), declared)) == []
