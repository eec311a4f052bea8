import polars as pl
import pytest

from republish.anonymize.contract import View
from republish.anonymize.formats import ANATOMY, FORMATS, GENERALIZATION, TAXONOMY_CUTS
from tests.series import make_contract

SCHEMA = make_contract(["age", "sex"]).table_schema
VIEW = View(
    identifier="pid",
    columns=[
        {"name": "age", "kind": "number", "domain": [0, 120]},
        {"name": "sex", "kind": "category", "order": ["F", "M"], "keep": True},
    ],
)
EVERY = pytest.mark.parametrize(
    ("release_format", "schema"),
    [(one, VIEW if one is TAXONOMY_CUTS else SCHEMA) for one in FORMATS.values()],
    ids=FORMATS,
)


@EVERY
def test_tables_come_back_under_our_own_names_and_go_out_under_the_publishers(release_format, schema):
    published = {
        name: pl.DataFrame({column.name: [n] for n, column in enumerate(columns)})
        for name, columns in release_format.columns(schema).items()
    }
    ours = release_format.internal(published, schema)
    for name, columns in release_format.columns(schema).items():
        assert ours[name].columns == [column.ours for column in columns]
    back = release_format.published(ours, schema)
    assert back.keys() == published.keys()
    assert all(table.equals(published[name]) for name, table in back.items())


def test_a_column_that_a_format_does_not_know_has_its_position_for_a_name_and_is_never_published():
    microdata = pl.DataFrame(
        {
            "qi_0_low": [9],
            "group_id": [1],
            "age_low": [20],
            "age_high": [29],
            "sex_low": ["F"],
            "sex_high": ["M"],
            "*": [7],
            "value": ["flu"],
        }
    )
    counterfeits = pl.DataFrame({"group_id": [1], "count": [1]})
    tables = {"microdata": microdata, "counterfeits": counterfeits, "another": counterfeits}
    ours = GENERALIZATION.internal(tables, SCHEMA)
    assert ours.keys() == {"microdata", "counterfeits"}
    assert ours["microdata"].columns == [
        *("extra_0", "group_id", "qi_0_low", "qi_0_high", "qi_1_low", "qi_1_high", "extra_6", "value")
    ]
    assert GENERALIZATION.published(ours, SCHEMA)["microdata"].columns == [
        *("group_id", "age_low", "age_high", "sex_low", "sex_high", "value")
    ]


@pytest.mark.parametrize(
    ("release_format", "tables"),
    [
        (GENERALIZATION, ["microdata", "counterfeits"]),
        (ANATOMY, ["quasi_identifiers", "sensitive", "counterfeits"]),
        (TAXONOMY_CUTS, ["view"]),
    ],
)
def test_the_main_table_is_the_first(release_format, tables):
    assert release_format.tables(VIEW if release_format is TAXONOMY_CUTS else SCHEMA) == tables


@EVERY
def test_the_identifier_is_in_no_published_table(release_format, schema):
    columns = [column for table in release_format.columns(schema).values() for column in table]
    assert {column.origin for column in columns} - {None} == schema.column_names().keys() - {"identifier"}
    assert schema.identifier not in {column.name for column in columns}
