"""Words for no answer, and bounds among numbers: in drafts, in advice, and as they are read."""

import polars as pl
import pytest

from republish.anonymize.errors import SnapshotError
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.drafts.columns import column_of
from republish.orchestration.drafts.draft import draft_of
from republish.orchestration.drafts.found import in_files
from republish.orchestration.drafts.roles import roles_of
from republish.orchestration.snapshots.bounds import bounds_in
from republish.orchestration.snapshots.no_answer import advice_on_no_answers, no_answers
from republish.orchestration.snapshots.sources import read_snapshot, source_of

NOTHING = [
    *("unknown", "Not stated", "refused", "Don\u2019t know", "n.a. / not applicable", "9 unknown"),
    *("weiß nicht", "Keine Angabe (99)", "Inconnu", "Non renseigné", "ne sait pas / refus", "NS/NC"),
    *(
        "k. A.",
        "n.a.",
        "NR",
        "ns/nr",
        "(vide)",
        "unbek.",
        "Refused to respond",
        "decline to state",
        "Not tested",
    ),
    *(
        "Prefer not to disclose",
        "decline to state",
        "no response given",
        "missing data",
        "aucune réponse",
        "sem informação",
    ),
    *("rifiuta di rispondere", "prefiro não responder", "wil niet zeggen", "kein Eintrag", "not provided"),
    *("No sabe/No contesta", "sconosciuta", "non risponde", "Não sabe", "ignorado", "onbekend"),
]
SOMETHING = [
    "flu",
    "none",
    "other",
    "healthy",
    "unknown poison",
    "refused to work",
    "missing teeth",
    "no data loss",
    "HIV",
    "0",
    "9",
]
CONTRACT = """
product: clinic
series: v1
source: {{path: "people.csv", {written}}}
releases: {{first: 2024-01-01}}
identifier: id
quasi_identifiers: [{{name: age, kind: number, domain: [0, 119]}}]
sensitive: {{name: ill}}
principle: {{name: m_invariance, m: 2}}
"""


@pytest.mark.parametrize("word", [one for one in NOTHING if not one.startswith("n.a. /")])
def test_a_word_for_no_answer_is_one_in_any_language(word):
    assert no_answers(pl.Series([word, "flu"]), {}) == {word: 1}


def test_what_somebody_may_have_is_no_such_word():
    assert no_answers(pl.Series(SOMETHING), {"9": "other"}) == {}
    assert no_answers(pl.Series(SOMETHING), {"9": "refused"}) == {"9": 1}


@pytest.fixture
def clinic(tmp_path):
    def declared(rows, written="encoding: utf-8"):
        pl.DataFrame(rows, ["id", "age", "ill"], orient="row").write_csv(tmp_path / "people.csv")
        (tmp_path / "clinic.yaml").write_text(CONTRACT.format(written=written))
        return load_contract(tmp_path / "clinic.yaml")

    return declared


def test_advice_counts_who_has_no_answer_until_it_is_said_that_these_may_be_known(clinic):
    ill = ["HIV", "unknown", "refused", "flu", "unknown", "not stated"] * 8
    file = clinic([(f"P{at}", "34", value) for at, value in enumerate(ill)])
    people = read_snapshot(source_of(file, "2024-01-01"))
    (said,) = advice_on_no_answers(people, file.contract, {}, "people")
    assert said.startswith("ill: unknown, not stated and refused look like no value: 32 of 48 people. In a")
    known = file.contract.sensitive.model_copy(update={"not_sensitive": ("unknown", "refused", "not stated")})
    contract = file.contract.model_copy(update={"sensitive": known})
    assert list(advice_on_no_answers(people, contract, {}, "people")) == []


BOUNDS = {
    "> 89": 90,
    "120 +": 120,
    "90+": 90,
    "<5": 4,
    "\u2265 90": 90,
    "90 and over": 90,
    "85 or older": 85,
    "under 5 years": 4,
    "90 und älter": 90,
    "<= 4": 4,
    "80-89": 84,
}


@pytest.mark.parametrize("word", BOUNDS)
def test_a_bound_is_the_number_next_to_it(word):
    assert bounds_in(pl.Series(["34", word]), is_whole=True) == {word: BOUNDS[word]}


@pytest.mark.parametrize("word", ["OOS", "2020-01-31", "34", "F32.1", "1.000 +", "89-80", "-5", ""])
def test_other_words_are_no_bounds(word):
    assert bounds_in(pl.Series(["34", word]), is_whole=True) == {}


def test_a_column_is_read_with_its_bounds(clinic):
    rows = [("P1", "34", "flu"), ("P2", "> 89", "gout"), ("P3", "110", "flu")]
    file = clinic(rows, 'columns: {age: {bounds: {"> 89": 90}}}')
    assert read_snapshot(source_of(file, "2024-01-01"))["qi_0"].sort().to_list() == [34, 90, 110]


@pytest.mark.parametrize(("people", "said"), [(5, "bounds: {'> 89': 90}"), (4, "bounds: {…}")])
def test_a_refusal_proposes_the_bounds_and_names_those_of_several(clinic, people, said):
    rows = [(f"P{at}", "> 89" if at < people else "34", "flu") for at in range(20)]
    with pytest.raises(SnapshotError) as refusal:
        read_snapshot(source_of(clinic(rows), "2024-01-01"))
    assert f"if it is a file, write {said} under source" in str(refusal.value)


def test_a_column_of_ranges_is_a_category_and_has_no_bounds():
    ranges = pl.Series(["20-29", "30-39", "40+"] * 40)
    assert (column_of("age", ranges).kind, column_of("age", ranges).bounds) == ("category", {})


def test_a_draft_reads_bounds_and_asks_about_words_for_no_answer(tmp_path):
    """It never takes a bound for a gap, and is a contract that the table fits."""
    rows = [
        (
            f"P{at:03}",
            "> 89" if at % 26 == 3 else str(18 + at % 60),
            ["HIV", "unknown", "flu", "gout"][at % 4],
        )
        for at in range(160)
    ]
    table = pl.DataFrame(rows, ["id", "age", "diagnosis"], orient="row")
    table.write_csv(tmp_path / "people-2024-01-01.csv")
    found = in_files(tmp_path / "people-2024-01-01.csv")
    person, age, ill = found.columns
    text = draft_of(found, roles_of(found.columns, [person], ill, found.unique), "people").text
    assert 'age: {bounds: {"> 89": 90}}' in text
    assert "? > 89, 7 rows, is a bound, and no gap: read as 90" in text
    assert "null_values" not in text.split("What nobody")[0]
    assert "missing" not in text.split("What nobody")[0]
    assert "? unknown looks like no value: 40 of 160 rows" in text
    assert age.missing == 0
    (tmp_path / "people.yaml").write_text(text)
    assert read_snapshot(source_of(load_contract(tmp_path / "people.yaml"), "2024-01-01")).height == 160
