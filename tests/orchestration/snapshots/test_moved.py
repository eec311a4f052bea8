"""Identifiers that are other people's: what hardly changes of a person gives it away."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.people.renaming import describe_renamings, suspected_renamings
from republish.anonymize.principles import parse_contract
from republish.orchestration.snapshots.moved import (
    beside_most,
    by_name,
    in_both,
    labels_moved,
    lasts,
    moved_by_column,
    why_moved,
)

DATES = {"domain": ["1900-01-01", "2030-12-31"], "kind": "date"}
TOWNS = ["Aldorf", "Birkheim", "Cellwig", "Dornau"]
CONTRACT = {
    "product": "people",
    "series": "v1",
    "source": {"path": "{release}.csv"},
    "releases": {"first": "2024-01-01"},
    "identifier": "id",
    "quasi_identifiers": [
        {"name": "born", **DATES},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
        {"name": "town", "kind": "category", "order": TOWNS},
        {"name": "place", "kind": "category", "order": TOWNS},
        {"name": "age", "kind": "number", "domain": [0, 120]},
        {"name": "pay", "kind": "number", "domain": [0, 1_000_000]},
    ],
    "sensitive": {"name": "disease"},
    "principle": {"name": "m_invariance", "m": 2},
}
contract = parse_contract(CONTRACT, where="here", context={})
NAMES = {ours: name for ours, name in contract.column_names().items() if ours != "value"}


def people(number=300, seed=1):
    chance = np.random.default_rng(seed)
    days = pl.Series(chance.integers(-15_000, 12_000, number)).cast(pl.Int32).cast(pl.Date)
    return pl.DataFrame(
        {
            "identifier": [f"P{at:04d}" for at in range(number)],
            "pseudonym": [bytes([at % 256, at // 256]) * 8 for at in range(number)],
            "qi_0": days,
            "qi_1": chance.choice(["F", "M"], number),
            "qi_2": chance.choice(TOWNS, number),
            "qi_3": chance.choice(TOWNS, number),
            "qi_4": chance.integers(0, 95, number),
            "qi_5": chance.lognormal(10, 0.4, number).astype(int),
        }
    )


def odd(now, before=None, of=contract, earlier=None):
    """The columns of which too many people have another value, and the question."""
    tables = [by_name(one, NAMES) for one in (people() if before is None else before, now)]
    found = beside_most(moved_by_column(in_both(*tables, of), of), of, earlier or {})
    columns = [column for column, share, most in found if share > most]
    names = now.select("pseudonym", "identifier")
    return columns, why_moved(columns, *tables, of, names) if columns else ""


def mixed(column, share=1.0, seed=5):
    """A column whose values are other people's, of a share of the people."""
    order = np.arange(300)
    chosen = np.random.default_rng(seed).permutation(300)[: int(300 * share)]
    order[np.sort(chosen)] = chosen
    return pl.col(column).gather(order)


def test_people_who_grow_older_move_house_and_earn_more_ask_nothing():
    later = people().with_columns(
        mixed("qi_0", 0.03),
        mixed("qi_2", 0.2),
        pl.col("qi_4") + pl.int_range(pl.len()) % 2,
        (pl.col("qi_5") * pl.Series(np.random.default_rng(3).uniform(0.98, 1.1, 300))).cast(pl.Int64),
    )
    assert odd(later) == ([], "")


RENUMBERED = pl.col("qi_0", "qi_1", "qi_2", "qi_3", "qi_4", "qi_5")
CHANGES = {
    "rows numbered anew": (RENUMBERED.shift(-1).fill_null(strategy="forward"), "are rows numbered anew?"),
    "given to others": ([mixed(f"qi_{at}") for at in range(6)], "identifiers given to other people?"),
    "of some": ([mixed(f"qi_{at}", 0.25) for at in range(6)], "identifiers given to other people?"),
    "swapped": ([pl.col("qi_2").alias("qi_3"), pl.col("qi_3").alias("qi_2")], "two columns swapped?"),
    "codes": (
        pl.col("qi_2").replace_strict(dict(zip(TOWNS, TOWNS[1:] + TOWNS[:1], strict=True))),
        "has its list of codes changed?",
    ),
    "dates": (pl.col("qi_0") + pl.duration(days=pl.Series(range(300)) % 40 - 20), "were dates shifted anew"),
    "one column": (
        pl.col("qi_5").shift(1).fill_null(strategy="backward"),
        "were rows of this column shifted?",
    ),
    "another column": (mixed("qi_5"), "is pay read from another column?"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_is_behind_it_is_asked(kind):
    change, words = CHANGES[kind]
    columns, question = odd(people().with_columns(change))
    assert columns
    assert words in question
    assert ("born" in columns) == (kind in {"rows numbered anew", "given to others", "of some", "dates"})


SOME = pl.int_range(pl.len()) % 20 < 3
"""Three in twenty."""
HALF = pl.int_range(pl.len()) % 2 == 0
OF_SOME = {
    "columns of half": (
        [
            pl.when(HALF).then("qi_5").otherwise("qi_4").alias("qi_4"),
            pl.when(HALF).then("qi_4").otherwise("qi_5").alias("qi_5"),
        ],
        ["age", "pay"],
        "in age what they had in pay: are the two columns swapped?",
    ),
    "columns": (
        [
            pl.when(SOME).then("qi_5").otherwise("qi_4").alias("qi_4"),
            pl.when(SOME).then("qi_4").otherwise("qi_5").alias("qi_5"),
        ],
        ["age", "pay"],
        "in age what they had in pay: are the two columns swapped?",
    ),
    "days and months": (
        pl.when(SOME & (pl.col("qi_0").dt.day() <= 12))
        .then(pl.date(pl.col("qi_0").dt.year(), pl.col("qi_0").dt.day(), pl.col("qi_0").dt.month()))
        .otherwise("qi_0")
        .alias("qi_0"),
        ["born"],
        "are dates read in another order?",
    ),
    "a stand-in": (
        pl.when(SOME).then(pl.date(1900, 1, 1)).otherwise("qi_0").alias("qi_0"),
        ["born"],
        "does it stand in for one that is not known?",
    ),
    "other people": ([mixed(f"qi_{at}", 0.15) for at in (0, 1)], ["born"], "given to other people?"),
}


@pytest.mark.parametrize("kind", OF_SOME)
def test_what_happens_to_a_few_people_is_asked_about_if_no_life_does_it(kind):
    change, columns, words = OF_SOME[kind]
    found, question = odd(people().with_columns(change))
    assert (found, words in question) == (columns, True), question


def test_two_columns_of_few_values_may_change_places():
    """Whoever had a job and no pension has none and a pension: that is no error."""
    before = people().with_columns(qi_4=pl.int_range(pl.len()) % 2, qi_5=1 - pl.int_range(pl.len()) % 2)
    now = before.with_columns(qi_4=pl.when(SOME).then("qi_5").otherwise("qi_4"))
    now = now.with_columns(qi_5=pl.when(SOME).then(before["qi_4"]).otherwise("qi_5"))
    tables = [by_name(one, NAMES) for one in (before, now)]
    counted = moved_by_column(in_both(*tables, contract), contract)
    assert counted.filter(column="pay")["exchanged"].item() == 0


BANDS = [f"{low}-{low + 4}" for low in range(0, 120, 5)]


def in_bands(table):
    return table.with_columns(qi_2=pl.format("{}-{}", pl.col("qi_4") // 5 * 5, pl.col("qi_4") // 5 * 5 + 4))


def test_age_bands_are_left_by_those_who_grow_older():
    """A fifth of them each year; nobody may be left in the lowest one."""
    columns = [{"name": "age_band", "kind": "category", "order": BANDS}, CONTRACT["quasi_identifiers"][0]]
    of = parse_contract(CONTRACT | {"quasi_identifiers": columns}, where="here", context={})
    names = {"identifier": "id", "qi_2": "age_band", "qi_0": "born"}
    young = people().with_columns(qi_4=pl.col("qi_4") % 60 + 19)
    for years, moved in ((1, []), (5, []), (pl.int_range(pl.len()) % 3 * 20, ["age_band"])):
        older = young.with_columns(pl.col("qi_4") + years)
        tables = [by_name(in_bands(one), names) for one in (young, older)]
        both = in_both(*tables, of)
        found = beside_most(moved_by_column(both, of), of, {})
        assert [column for column, share, most in found if share > most] == moved
        assert suspected_renamings(labels_moved(both, *tables, of)).is_empty()


@pytest.mark.parametrize("times", [1 / 1.95583, 1 / 12, 0.001, 1000])
def test_numbers_in_another_unit_are_named_so(times):
    paid = people().with_columns(qi_5=pl.col("qi_5") * 1.0)
    columns, question = odd(paid.with_columns(pl.col("qi_5") * times), paid)
    assert columns == ["pay"]
    assert question == f"pay is {times:.3g} times what it was, of nearly all: is it in another unit?"
    assert odd(paid.with_columns(pl.col("qi_5") * 1.1), paid) == ([], "")


@pytest.mark.parametrize("name", ["yob", "Jahrgang", "bday", "dt_nasc", "fecha_nac", "BRTHDTC", "geb_dat"])
def test_what_lasts_is_known_by_its_name(name):
    assert lasts(name)
    assert not lasts("Gebiet")


def test_fewer_may_move_where_few_moved_before_and_as_many_as_are_expected():
    later = people().with_columns(mixed("qi_2", 0.6))
    assert odd(later) == ([], "")
    assert odd(later, earlier={"town": 0.02})[0] == ["town"]
    assert odd(later, earlier={"town": 0.3})[0] == []
    some = people().with_columns(mixed("qi_0", 0.05))
    assert odd(some) == ([], "")
    assert odd(some, earlier={"born": 0.001})[0] == ["born"]
    gone = people().with_columns(mixed("qi_2"))
    assert odd(gone)[0] == ["town"]
    expecting = parse_contract(CONTRACT | {"expect": {"moved": {"town": 0.9}}}, where="here", context={})
    assert odd(gone, of=expecting)[0] == []


def test_few_people_and_people_without_a_value_say_nothing():
    few = people(19)
    assert odd(few.with_columns(pl.col("qi_0").reverse()), few) == ([], "")
    assert odd(people().with_columns(pl.lit(None, pl.Date).alias("qi_0"))) == ([], "")


def test_a_label_in_place_of_a_missing_value_is_no_other_value():
    """A contract may publish missing labels from a release on: those who lack one have not moved."""
    lacking = pl.Series(np.arange(300) % 3 == 0)
    now = people().with_columns(qi_1=pl.when(lacking).then(pl.lit("(missing)")).otherwise("qi_1"))
    assert odd(now) == ([], "")
    assert odd(people(), before=now) == ([], "")


def test_a_column_of_another_kind_than_before_is_not_compared():
    """That the contract changed is asked about by its name; values of two types can not be compared."""
    before = people().with_columns(qi_1=pl.col("qi_4").cast(pl.String))
    assert odd(people().with_columns(qi_1=pl.col("qi_4")), before) == ([], "")
    assert odd(people().with_columns(qi_1=pl.col("qi_4").reverse()), before) == ([], "")


def test_labels_that_were_merged_are_found_by_their_column():
    """All who had one have the same other one; whoever has none says nothing of it."""
    before = people().with_columns(qi_2=pl.Series(["Aldorf", "Bonn", "Ulm", None] * 75))
    now = before.with_columns(pl.col("qi_2").replace({"Aldorf": "Bonn"}))
    for after, said in (
        (
            now,
            ["Nobody has 'town: Aldorf' any more, and 75 of the 75 people who had it now have 'town: Bonn'"],
        ),
        (before, []),
    ):
        tables = [by_name(one, NAMES) for one in (before, after)]
        found = labels_moved(in_both(*tables, contract), *tables, contract)
        assert describe_renamings(suspected_renamings(found)) == said
