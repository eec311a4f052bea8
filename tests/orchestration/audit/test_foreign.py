import datetime as dt
import json

import polars as pl
import pytest
import yaml
from rich.console import Console

from republish.anonymize.errors import ContractError, PublishedFolderError
from republish.anonymize.principles import parse_contract
from republish.anonymize.promise import KAnonymity, Promise
from republish.orchestration.audit.command import audit
from republish.orchestration.audit.read.foreign import convert, load_mapping
from tests.anonymize.sequential.sequential_tables import view_contract
from tests.clinic import CLINIC


@pytest.fixture(scope="module")
def declared():
    return parse_contract(
        {
            **CLINIC,
            "identifier": "id",
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 120]},
                {"name": "weight", "kind": "number", "domain": [0.5, 300.0]},
                {"name": "born", "kind": "date", "domain": ["1900-01-01", "2030-12-31"]},
                {
                    "name": "town",
                    "kind": "category",
                    "hierarchy": [["12001", "12", "*"], ["12002", "12", "*"], ["47001", "47", "*"]],
                },
            ],
            "sensitive": {"name": "disease"},
            "principle": {"name": "m_invariance", "m": 2},
        }
    )


MAPPING = {
    "quasi_identifiers": {"age": "Age", "weight": ["kg from", "kg to"], "born": "Born", "town": "Zip"},
    "sensitive": "Diagnosis",
}
ROWS = pl.DataFrame(
    {
        "Zip": ["12***", "12***", "47001"],
        "Age": ["20-29", "20-29", "[30, 39]"],
        "kg from": ["50.0", "50.0", "70"],
        "kg to": ["60.0", "60.0", "80"],
        "Born": ["1990", "1990", "1980-05"],
        "Diagnosis": ["flu", "gout", "flu"],
    }
)


@pytest.fixture
def mapping(tmp_path, declared):
    def load(changes=None):
        file = tmp_path / "mapping.yaml"
        file.write_text(yaml.safe_dump(MAPPING | (changes or {})))
        return load_mapping(file, declared)

    return load


def test_rows_with_the_same_quasi_identifiers_are_a_group(mapping, declared):
    table = convert(ROWS, mapping(), declared, "2024.csv")[0]["microdata"]
    assert table["group_id"].to_list() in ([1, 1, 2], [2, 2, 1])
    assert table.row(0, named=True) | {"group_id": 0, "class_id": 0} == {
        "group_id": 0,
        "class_id": 0,
        "age_low": 20,
        "age_high": 29,
        "weight_low": 50.0,
        "weight_high": 60.0,
        "born_low": dt.date(1990, 1, 1),
        "born_high": dt.date(1990, 12, 31),
        "town_low": "12001",
        "town_high": "12002",
        "disease": "flu",
    }


def test_a_column_can_number_groups_of_rows_with_the_same_cells(mapping, declared):
    rows = ROWS.with_columns(pl.Series("class", ["x", "y", "y"]))
    table = convert(rows, mapping({"group": "class"}), declared, "2024.csv")[0]["microdata"]
    assert table["group_id"].to_list() == [1, 2, 3]
    alike = ROWS.with_columns(pl.Series("class", ["x", "y", "x"]), Zip=pl.lit("*"), Age=pl.lit("*"))
    table = convert(
        alike.with_columns(Born=pl.lit("*"), **{"kg from": pl.lit("50"), "kg to": pl.lit("60")}),
        mapping({"group": "class"}),
        declared,
        "2024.csv",
    )[0]["microdata"]
    assert table["group_id"].to_list() == [1, 2, 1]


def test_columns_nobody_named_are_kept_for_the_attack_on_side_channels(mapping, declared):
    table = convert(ROWS.with_columns(note=pl.lit("x")), mapping(), declared, "2024.csv")[0]["microdata"]
    assert "note" in table.columns


def test_what_can_t_be_read_is_named_with_what_can(mapping, declared):
    rows = ROWS.with_columns(Age=pl.Series(["young", "old", "20-29"]))
    with pytest.raises(
        PublishedFolderError, match=r"2024.csv: column Age: can't read 'old'.*\(2 such texts\).*21-23"
    ):
        convert(rows, mapping(), declared, "2024.csv")


@pytest.mark.parametrize(
    ("ages", "changes", "said"),
    [
        (["43,33", "43,33", "61"], {}, "the 1 texts of age with a comma can be read in two ways"),
        (["50,5", "21,23", "61"], {}, "the 2 texts of age with a comma can be read in two ways"),
        (["43,33", "43,33", "61"], {"decimal": ","}, "are they means of groups"),
        (["43,33", "43,33", "61"], {"decimal": "."}, None),
        (["21,23", "23,30", "61"], {}, None),
        (["43,33", "21,43,33", "61"], {}, None),
        (["{43,33}", "43, 33", "61"], {}, None),
    ],
)
def test_a_comma_between_two_numbers_may_be_one_of_decimals(mapping, declared, ages, changes, said):
    """Sets are in order, and have any number of members: where one is not, and all have two, nobody knows."""
    rows = ROWS.with_columns(Age=pl.Series(ages))
    if said is None:
        table = convert(rows, mapping(changes), declared, "2024.csv")[0]["microdata"]
        assert table["age_high"].max() == 61
        return
    with pytest.raises(PublishedFolderError, match=said):
        convert(rows, mapping(changes), declared, "2024.csv")


def test_an_interval_that_ends_before_it_begins_is_refused(mapping, declared):
    rows = ROWS.rename({"kg from": "kg to", "kg to": "kg from"})
    with pytest.raises(PublishedFolderError, match="3 intervals of weight end before they begin"):
        convert(rows, mapping(), declared, "2024.csv")


def test_a_missing_column_is_named(mapping, declared):
    with pytest.raises(PublishedFolderError, match="has no column Diagnosis"):
        convert(ROWS.drop("Diagnosis"), mapping(), declared, "2024.csv")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"quasi_identifiers": {"age": "Age"}}, "quasi_identifiers.born: is missing"),
        ({"quasi_identifiers": MAPPING["quasi_identifiers"] | {"sex": "Sex"}}, "is no quasi-identifier"),
        ({"sensitiv": "x"}, "sensitiv"),
        ({"zone": "Europe/Berlin"}, "zone: .*says nothing here: what is published are days"),
        ({"hierarchies": {"age": "none.csv"}}, r"hierarchies.age: none.csv: there is no such file in"),
    ],
)
def test_faults_of_a_mapping_are_named(mapping, changes, fault):
    with pytest.raises(ContractError, match=fault):
        mapping(changes)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_hierarchy_with_a_byte_order_mark_has_all_of_its_leaves(mapping, declared, tmp_path, mark):
    (tmp_path / "towns.csv").write_text(f"{mark}12001;east;all\n12002; east ;all\n47001;west;all\n")
    read = mapping({"hierarchies": {"town": "towns.csv"}})
    rows = ROWS.with_columns(Zip=pl.Series(["east", "east", "west"]))
    table = convert(rows, read, declared, "2024.csv")[0]["microdata"]
    assert table.select("town_low", "town_high").rows() == [("12001", "12002")] * 2 + [("47001", "47001")]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("12001;east\n12003;east\n", r"towns.csv, line 2: '12003' is no value of town"),
        ("12001,east\n", r"towns.csv, line 1: '12001,east' is no value of town"),
        ("12001;;all\n", r"towns.csv, line 1: has an empty entry"),
    ],
)
def test_a_hierarchy_with_leaves_that_are_no_values_is_refused(mapping, tmp_path, lines, fault):
    (tmp_path / "towns.csv").write_text(lines)
    with pytest.raises(ContractError, match=f"hierarchies.town: {fault}"):
        mapping({"hierarchies": {"town": "towns.csv"}})


@pytest.mark.parametrize(
    ("stated", "fault"),
    [({}, "say k, l or both"), ({"k": 0}, "greater than or equal to 1"), ({"m": 2}, "Extra inputs")],
)
def test_a_promise_of_another_tool_says_k_or_l(mapping, stated, fault):
    with pytest.raises(ContractError, match=fault):
        mapping({"promise": stated})
    assert mapping({"promise": {"k": 5}}).promise == Promise(KAnonymity(5))
    assert mapping().promise is None


@pytest.mark.parametrize(("promised", "code"), [({"k": 2}, 0), ({"k": 2, "l": 2}, 3), ({"k": 3, "l": 1}, 3)])
def test_another_tools_table_is_held_to_what_that_tool_promises(tmp_path, promised, code):
    """No principle of ours is named anywhere, and none is judged."""
    (tmp_path / "truth").mkdir()
    (tmp_path / "table.csv").write_text("\ufeffAGE,DISEASE\n20-29,flu\n20-29,flu\n30-39,flu\n30-39,ulcer\n")
    (tmp_path / "truth/table.csv").write_text("id,age,disease\n1,21,flu\n2,22,flu\n3,33,flu\n4,34,ulcer\n")
    columns = [{"name": "age", "kind": "number", "domain": [0, 99]}]
    told = {"identifier": "id", "quasi_identifiers": columns, "sensitive": {"name": "disease"}}
    (tmp_path / "contract.yaml").write_text(yaml.safe_dump(told))
    named = {"quasi_identifiers": {"age": "AGE"}, "sensitive": "DISEASE"}
    (tmp_path / "mapping.yaml").write_text(yaml.safe_dump(named | {"promise": promised}))
    files = [tmp_path / name for name in ("truth", "contract.yaml")]
    options = {
        "mapping": tmp_path / "mapping.yaml",
        "out": tmp_path / "report",
        "console": Console(quiet=True),
    }
    assert audit([tmp_path / "table.csv"], *files, **options) == code
    said = json.loads((tmp_path / "report/audit.json").read_text())
    kept = {row["promise"]: row["holds"] for row in said["promises"]}
    stated = {"k": "k-anonymity", "l": "l-diversity"}
    assert {name for name in kept if name in stated.values()} == {stated[key] for key in promised}
    assert kept.get("l-diversity", True) == (promised.get("l", 1) == 1)
    assert "candidates by quasi-identifiers" not in kept
    risks = said["series"][0]["releases"][0]["figures"]
    k, l, prosecutor = "smallest_class", "fewest_values_of_a_class", "prosecutor_risk"
    assert [risks[name] for name in (k, l, prosecutor)] == [2, 1, 0.5]
    (tmp_path / "mapping.yaml").write_text(yaml.safe_dump(named))
    with pytest.raises(ContractError, match="principle"):
        audit([tmp_path / "table.csv"], *files, **options)


def test_a_view_has_no_groups_to_map(tmp_path):
    view = view_contract([{"name": "age", "kind": "number", "domain": [0, 99]}], x=["age"], y=["pid"])
    with pytest.raises(ContractError, match="the contract is of a view: leave --mapping out"):
        load_mapping(tmp_path / "mapping.yaml", view)
