"""The attack on one view, written by hand: each way in which a row can be wrong shows under its promise."""

import polars as pl
import pytest

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.errors import SnapshotError
from republish.anonymize.formats.taxonomy_cuts import TAXONOMY_CUTS
from republish.anonymize.promise.attacked import attack as attack_view
from republish.anonymize.sequential import SEQUENTIAL
from tests import findings as fi
from tests.anonymize.sequential.sequential_tables import JOBS, view_contract

COLUMNS = [
    {"name": "age", "kind": "number", "domain": [17, 95]},
    {"name": "job", "kind": "category", "hierarchy": JOBS},
    {"name": "class", "kind": "category", "order": ["no", "yes"], "keep": True},
]
CONTRACT = view_contract(COLUMNS, x=["age", "job"], y=["pid"], k=2)
PEOPLE = pl.DataFrame(
    {
        "person": list("abcde"),
        "identifier": list("abcde"),
        "column_0": [60, 20, 30, 50, 38],
        "column_1": ["Driver", "Banker", "Clerk", "Driver", "Driver"],
        "column_2": ["no", "no", "yes", "no", "yes"],
    }
)
LABELS = {
    "a": ("[38-95]", "Worker", "no"),
    "b": ("[17-38)", "Professional", "no"),
    "c": ("[17-38)", "Professional", "yes"),
    "d": ("[38-95]", "Worker", "no"),
    "e": ("[38-95]", "Worker", "yes"),
}
SORTED = "bcade"
"""The people in the order of their rows."""


def view(order=SORTED, **other):
    """A row for each person, with other labels for some."""
    rows = [other.get(person, LABELS[person]) for person in order]
    return pl.DataFrame(rows, schema=["age", "job", "class"], orient="row")


def attacked(table=None, knowledge=None, **options):
    """What is found on a view; on the second of two, if something is known of the first."""
    promise = SEQUENTIAL.promise(CONTRACT.principle)
    table = view() if table is None else table
    promises = [promise] * (2 if knowledge else 1)
    found = attack_view(CONTRACT, TAXONOMY_CUTS, {"view": table}, PEOPLE, promises, knowledge, **options)
    return found, {row["promise"]: row for row in found.findings.iter_rows(named=True)}


def broken(*arguments, **options):
    _, rows = attacked(*arguments, **options)
    return {promise: row["broken"] for promise, row in rows.items() if row["broken"]}


def test_a_view_of_its_people_breaks_nothing():
    found, rows = attacked()
    assert found.holds
    assert all(row["undecided"] == 0 for row in rows.values())
    assert found.figures["broken_promises"] == 0
    assert rows[fi.JOIN]["found"] == 2


@pytest.mark.parametrize(
    "label",
    [
        ("[30-30)", "Professional", "yes"),  # no number is in it, and 30 is where it begins
        ("[31-38)", "Professional", "yes"),
        ("[17-38)", "Worker", "yes"),
        ("[17-38)", "Banker", "yes"),
        ("[17-38)", "Professional", "no"),
    ],
)
def test_a_row_that_does_not_cover_its_person(label):
    assert broken(view(c=label))[fi.COVERAGE] == 1


@pytest.mark.parametrize("end", ["30)", "29]"])
def test_an_interval_that_ends_before_a_number_does_not_cover_it(end):
    table = view().with_columns(pl.col("age").replace({"[17-38)": f"[17-{end}"}))
    assert broken(table)[fi.COVERAGE] == 1


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("age", {"[17-38)": "[17-30]"}),
        ("age", {"[17-38)": "[17, 37]", "[38-95]": "[38-96)"}),
        ("age", {"[17-38)": "*", "[38-95]": "*"}),
        ("job", {"Worker": "Driver"}),
        ("job", {"Worker": "ANY", "Professional": "ANY"}),
        ("job", {"Worker": "*", "Professional": "*"}),
    ],
)
def test_a_view_in_other_words_covers_its_people(column, labels):
    assert broken(view().with_columns(pl.col(column).replace(labels)).sort(pl.all())) == {}


@pytest.mark.parametrize("label", ["unknown", " 42", "[ 17-38)", "1.2.3", None])
def test_numbers_that_can_not_be_read_are_refused(label):
    """To take them for any number would convict less than what they say to whoever reads them."""
    with pytest.raises(SnapshotError, match="the view, column age: 1 values are no numbers or intervals"):
        broken(view(a=(label, "Worker", "no")))


def test_a_row_in_another_place_is_missing_in_one_and_nobodys_in_the_other():
    """The people's values are all covered by a row, but not by as many as they are."""
    assert broken(view(a=LABELS["e"])) == {fi.COUNTS: 2}


def test_a_row_that_is_missing_or_nobodys():
    assert broken(view("bcad")) == {fi.COVERAGE: 1, fi.COUNTS: 1}
    assert broken(view("bcadee")) == {fi.COUNTS: 1}


def test_people_who_are_held_back_need_no_row():
    assert broken(view("bcad"), held_back=1) == {}
    found = broken(view("bad"), held_back=1)
    assert (found[fi.COVERAGE], found[fi.COUNTS]) == (1, 1)
    assert broken(view(), held_back=1) == {fi.COUNTS: 1}


@pytest.mark.parametrize("order", ["abcde", "edcba"])
def test_rows_in_the_order_of_the_people(order):
    people = PEOPLE if order == "abcde" else PEOPLE[::-1]
    promise = SEQUENTIAL.promise(CONTRACT.principle)
    found = attack_view(CONTRACT, TAXONOMY_CUTS, {"view": view(order)}, people, [promise])
    assert found.findings.filter(promise=fi.ROW_ORDER)["broken"].to_list() == [5]


def test_rows_in_the_order_of_identifiers_whatever_the_order_of_the_snapshot():
    promise = SEQUENTIAL.promise(CONTRACT.principle)
    shuffled = PEOPLE[[2, 0, 4, 1, 3]]
    found = attack_view(CONTRACT, TAXONOMY_CUTS, {"view": view("abcde")}, shuffled, [promise])
    assert found.findings.filter(promise=fi.ROW_ORDER)["broken"].to_list() == [5]


def test_rows_in_another_order_are_not_decided():
    _, rows = attacked(view("cabed"))
    assert (rows[fi.ROW_ORDER]["broken"], rows[fi.ROW_ORDER]["undecided"]) == (0, 5)


def test_a_column_that_the_format_does_not_have():
    assert broken(view().with_columns(note=pl.lit("x"))) == {fi.UNREAD: 1}
    assert broken(view().with_columns(pid=pl.Series(list(SORTED)))) == {fi.UNREAD: 1, fi.IDENTIFIERS: 1}


def test_every_earlier_view_is_joined_and_one_that_is_missing_is_named():
    first, _ = attacked()
    _, rows = attacked(knowledge=first.knowledge)
    assert rows[fi.JOIN]["people"] == 5
    assert attacked(knowledge=first.knowledge)[0].figures["records_of_the_join"] > 5
    with pytest.raises(SnapshotError, match="view_1, a release that is to be joined"):
        attacked(knowledge=Knowledge(domain=pl.DataFrame()))


def test_a_value_on_x_with_fewer_records_than_promised():
    # The only one of their job: two were promised.
    _, rows = attacked(view(c=("[17-38)", "Clerk", "yes"), b=("[17-38)", "Banker", "no")))
    assert rows[fi.JOIN]["broken"] == 2
    assert (rows[fi.JOIN]["found"], rows[fi.JOIN]["required"]) == (1, 2)
