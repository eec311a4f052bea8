"""`identifier: [household, line]`: people whom several columns identify together, wherever they are named."""

import polars as pl
import pytest
import yaml
from hypothesis import given as of_any
from hypothesis import strategies as st
from typer.testing import CliRunner

from republish.anonymize.contract.identifier import JoinedColumns, columns_of_identifier, given, join_parts
from republish.anonymize.errors import ContractError, SnapshotError
from republish.anonymize.spelling import identifier_forms, normal_form, value_form
from republish.orchestration.chain.corrections import corrections_of
from republish.orchestration.chain.snapshot import kept_snapshot, take_snapshot
from republish.orchestration.cli.app import app
from republish.orchestration.cli.drafting import write_draft
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.json_schema import contract_schema
from republish.orchestration.rights.find import find
from republish.orchestration.series.shards import shards_of
from republish.orchestration.snapshots.crosswalks import asked_for, crosswalk
from republish.orchestration.snapshots.sources import read_snapshot, source_of
from tests.hospital import RELEASES, audited, make

FIRST, SECOND, THIRD = RELEASES
COLUMNS = ["household", "line"]
PARTS = st.text("aA1 _,\\¦\uffe4\uff3c\u200b0\u0022", min_size=1, max_size=4)


@pytest.mark.slow("takes more than a second")
@of_any(st.lists(st.tuples(PARTS, PARTS), min_size=2, max_size=20, unique=True))
def test_two_people_never_become_one(people):
    joined = join_parts([pl.Series(part) for part in zip(*people, strict=True)])
    assert joined.n_unique() == len(people)
    form = forms_of(sorted({part for person in people for part in person}))
    forms = pl.DataFrame({"form": identifier_forms(joined), "plain": joined}).with_columns(
        parts=pl.Series([[form[part] for part in person] for person in people])
    )
    # Whatever two people have in common but for spelling, each part has: nothing moves from one to the other.
    assert forms.group_by("form").agg(pl.col("parts").n_unique())["parts"].max() == 1


def forms_of(parts):
    """The form of each part by itself, whose marks are escaped as they are where parts are joined."""
    escaped = pl.lit(join_parts([pl.Series(parts)]))
    both = pl.select(value_form(escaped).alias("value"), normal_form(escaped).alias("blank")).rows()
    return {part: one if part.strip() else blank for part, (one, blank) in zip(parts, both, strict=True)}


def apart(hospital, release):
    """A snapshot with `household` and `line` in place of one identifier: four people a household."""
    number = pl.col("patient_id").str.slice(1).cast(pl.Int64)
    people = hospital.snapshot(release)
    parts = [pl.format("H{}", number // 4).alias("household"), (number % 4 + 1).alias("line")]
    return people.select(*parts, pl.exclude("patient_id"))


@pytest.fixture
def households(hospital):
    for release in RELEASES:
        hospital.deliver(release, apart(hospital, release))
    return hospital.declare(identifier=COLUMNS)


def read(hospital, release=FIRST):
    return read_snapshot(source_of(load_contract(hospital.contract), release))


@pytest.mark.slow("takes more than a second")
def test_each_person_is_one_whatever_the_kind_of_file(households):
    before = households.snapshot(FIRST)
    names = before.select(pl.format("{} ¦ {}", *COLUMNS)).to_series()
    assert read(households)["identifier"].to_list() == names.to_list()
    households.declare(identifier=COLUMNS, source={"path": "{release}.csv", "names": {"line": "No."}})
    before.rename({"line": "No."}).write_csv(households.folder / f"{FIRST}.csv")
    assert read(households)["identifier"].to_list() == names.to_list()
    place = f"snapshots/hospital/{FIRST}.parquet"
    query = f"SELECT * FROM '{place}' WHERE CAST(:release AS varchar) <> ''"  # noqa: S608
    declared = yaml.safe_load(households.contract.read_text())
    declared["source"] = {"dsn": "duckdb:", "query": query}
    households.contract.write_text(yaml.safe_dump(declared))
    assert sorted(read(households)["identifier"]) == sorted(names)


FAULTS = {
    "twice": (lambda people: pl.concat([people, people[:1]]), "household ¦ line: 1 of 301 rows repeat"),
    "no part": (
        lambda people: people.with_columns(line=pl.when(pl.int_range(300) > 1).then("line")),
        "household ¦ line: 2 of 300 rows have no value",
    ),
    "no column": (lambda people: people.drop("line"), "the column line is missing"),
    "fractions": (
        lambda people: people.with_columns(line=pl.col("line") + 0.5),
        "line: its values are neither text nor whole numbers nor dates",
    ),
    "spelling": (
        lambda people: pl.concat([people, people[:1].with_columns(pl.col("household").str.to_lowercase())]),
        "1 of them differ by spaces, capital letters",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_people_who_are_not_told_apart_are_refused(households, fault):
    alter, words = FAULTS[fault]
    households.deliver(FIRST, alter(households.snapshot(FIRST)))
    with pytest.raises(SnapshotError) as refused:
        read(households)
    assert words in str(refused.value)
    assert "the column household is missing" not in str(refused.value)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ([], "must name a column, or list the columns"),
        (["line", "line"], "lists line more than once"),
        (["household", 3], "must be text, not 3"),
        (["household", "disease"], "the column disease is a part of the identifier"),
        (["household", ""], "must not be empty"),
    ],
)
def test_a_list_that_identifies_nobody_is_a_fault(hospital, identifier, words):
    with pytest.raises(ContractError, match=words):
        load_contract(hospital.declare(identifier=identifier).contract)


def test_a_part_may_be_known_and_a_list_of_one_is_that_column(hospital):
    known = load_contract(hospital.declare(identifier=["zipcode", "patient_id"]).contract).contract
    assert known.source_columns()[:2] == ["zipcode", "patient_id"]
    assert known.source_columns().count("zipcode") == 1
    one = load_contract(hospital.declare(identifier=["patient_id"]).contract).contract
    assert one.identifier == "patient_id"
    assert one.source_columns()[0] == "patient_id"


def test_editors_know_of_both_forms():
    shapes = [shape for shape in contract_schema()["anyOf"] if "identifier" in shape["properties"]]
    assert len(shapes) == 2  # of a table, and of a view
    for shape in shapes:
        assert {one["type"] for one in shape["properties"]["identifier"]["anyOf"]} == {"string", "array"}


def test_identifiers_are_given_as_lines_of_a_csv_file():
    name = JoinedColumns(COLUMNS)
    assert given(["household,line", "H1,3", '"a,b", 4'], name) == ["H1 ¦ 3", "a,b ¦ 4"]
    assert given(["H1,3"], "patient_id") == ["H1,3"]
    for lines in (["H1"], ["H1,3,4"], ["H1,"]):
        with pytest.raises(ValueError, match="1 of 1 lines do not have the 2 parts of an identifier: write"):
            given(lines, name)


def test_a_crosswalk_names_both_columns_before_and_after(households):
    was = households.snapshot(SECOND)[:1]
    changes = pl.DataFrame({"old_household": was["household"], "old_line": was["line"]})
    changes = changes.with_columns(new_household=pl.lit("N"), new_line=pl.lit(1))
    changes.write_csv(households.folder / "crosswalk.csv")
    households.declare(identifier=COLUMNS, identifiers={SECOND: "crosswalk.csv"})
    file = load_contract(households.contract)
    old = f"{was['household'][0]} ¦ {was['line'][0]}"
    assert crosswalk(file).first.rows() == [("N ¦ 1", old)]
    assert asked_for(file, ["n ¦ 01"]) == [old]
    changes.rename({"old_line": "line"}).write_csv(households.folder / "crosswalk.csv")
    with pytest.raises(SnapshotError, match="old_household and old_line and new_household and new_line"):
        crosswalk(file)


def test_corrections_name_both_columns(households, tmp_path):
    series = households.series(tmp_path / "home")
    for release in (FIRST, SECOND):
        take_snapshot(series, release)
    before, now = (kept_snapshot(series.private(release)) for release in (FIRST, SECOND))
    both = now.table.join(before.table, on="pseudonym", suffix="_before")
    changed = both.filter(pl.col("value") != pl.col("value_before"))[:2]
    parts = changed["identifier"].str.split_exact(" ¦ ", 1).struct.rename_fields(COLUMNS).struct.unnest()
    parts.with_columns(column=pl.lit("disease")).write_csv(households.folder / "wrong.csv")
    households.declare(identifier=COLUMNS, corrections={SECOND: "wrong.csv"})
    (shard,) = shards_of(households.series(tmp_path / "home"))
    assert set(corrections_of(shard, SECOND, before, now, None)) == set(changed["pseudonym"])


@pytest.mark.slow("makes and audits releases")
def test_people_of_two_columns_keep_their_signatures_and_can_be_found_and_forgotten(households, tmp_path):
    home = tmp_path / "home"
    series = make(households.series(home), FIRST, SECOND)
    code, promises = audited(households, series, tmp_path / "report")
    assert code == 0
    assert all(row["holds"] for row in promises.values())
    who = households.snapshot(SECOND).join(households.snapshot(FIRST), on=COLUMNS, how="semi")[:2]
    lines = "household,line\n" + "\n".join(",".join(map(str, row)) for row in who.select(COLUMNS).iter_rows())
    first = f"{who['household'][0]} ¦ {who['line'][0]}"
    assert [one.in_release for one in find(series, first.lower()).series[0].releases] == [True, True]
    words = ["forget", str(households.contract), "--home", str(home), "--never-again", "--delete"]
    said = CliRunner().invoke(app, words, input=lines)
    assert "2 people in" in said.output
    assert "nothing is kept of" not in said.output
    assert not any(one.in_snapshot for one in find(series, first).series[0].releases)
    sheet = ["person", str(households.contract), "--home", str(home), "--out", str(tmp_path / "sheet")]
    assert CliRunner().invoke(app, sheet, input="H1").exit_code
    assert CliRunner().invoke(app, sheet, input=lines.rpartition("\n")[2]).exit_code == 0
    make(series, THIRD)
    assert series.is_published(THIRD)


def test_shards_divide_people_by_both_columns(households, tmp_path):
    series = households.declare(identifier=COLUMNS, shards=2).series(tmp_path / "home")
    assert take_snapshot(series, FIRST).people == 300
    snapshots = [kept_snapshot(shard.within(series.private(FIRST))).table for shard in shards_of(series)]
    assert all(snapshot.height > 50 for snapshot in snapshots)
    # What divides them is both columns: people of one line of households are in either.
    first, second = (set(one["identifier"].str.split(" ¦ ").list.last()) for one in snapshots)
    assert first == second == {"1", "2", "3", "4"}


ROWS = 120
TABLES = {
    "household and line": ({"household": lambda at: f"H{at // 4}", "line": lambda at: at % 4 + 1}, True),
    "numbers": ({"hhid": lambda at: at // 4, "pernum": lambda at: at % 4 + 1}, True),
    "site and number": ({"site": lambda at: at % 5, "number": lambda at: at // 5 + 1}, True),
    "no word for a group": ({"a": lambda at: f"Q{at // 4}", "no": lambda at: at % 4 + 1}, True),
    "visits": ({"patient_id": lambda at: f"P{at // 4}", "visit_no": lambda at: at % 4 + 1}, False),
    "one is enough": ({"site": lambda at: at % 5, "number": lambda at: f"P{at}"}, False),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_draft_has_two_columns_where_no_single_one_identifies_anybody(tmp_path, table):
    columns, is_pair = TABLES[table]
    people = {name: [of(at) for at in range(ROWS)] for name, of in columns.items()}
    people["age"] = [20 + at % 50 for at in range(ROWS)]
    people["diagnosis"] = [["flu", "gout", "burn", "asthma", "ulcer"][at % 5] for at in range(ROWS)]
    pl.DataFrame(people).write_csv(tmp_path / "people_2024-01-01.csv")
    draft = tmp_path / "draft.yaml"
    how = {"sensitive": "diagnosis", "not_sensitive": (), "query": None, "asks": False, "force": False}
    write_draft(str(tmp_path / "people_2024-01-01.csv"), identifier=None, out=draft, **how)
    declared = load_contract(draft).contract
    assert (columns_of_identifier(declared.identifier) == (*columns,)) == is_pair
    if is_pair:
        assert declared.rows == "one"
        assert "# ? no column has another value in each row" in draft.read_text()
        how |= {"identifier": ",".join(columns), "out": tmp_path / "same.yaml"}
        write_draft(str(tmp_path / "people_2024-01-01.csv"), **how)
        assert load_contract(how["out"]).contract.identifier == declared.identifier
