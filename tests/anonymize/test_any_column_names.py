"""A publisher's columns may have any names: nothing but the names in the published tables depends on them."""

import datetime as dt
import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.errors import ContractError
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.principle.state import State
from republish.anonymize.principles import PRINCIPLES, parse_contract, principle_of
from republish.anonymize.promise.attacked import attack as attack_release
from republish.anonymize.promise.registry import checks_of
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.readers.datapackage.package import data_package
from republish.orchestration.readers.estimate.asking import Asker, Question
from republish.orchestration.readers.estimate.copies import copies_of
from republish.orchestration.readers.estimate.expression import Expression
from republish.orchestration.readers.estimate.names import column_names, quoted
from republish.orchestration.readers.estimate.published import read_published
from republish.orchestration.storage.store import write_table
from tests.series import draws, entered, make_contract

INSIDE = (
    *("pseudonym", "identifier", "value", "qi_0", "qi_1", "qi_0_low", "qi_0_high", "group_id", "bucket_id"),
    *("count", "person", "people", "alike", "place", "there", "needed", "counterfeit", "counterfeits"),
    *("change", "moved", "promised", "candidates_0", "signature", "group", "tuples", "present", "value_now"),
    *("row", "held", "key", "first_release", "last_release", "newcomers", "column", "index", "size", "name"),
    *("extra_0", "len", "literal", "min_cut", "node", "queue", "position", "microdata", "sensitive"),
)
"""Names of columns and tables that are, or were, used inside."""
IN_SQL = (
    *("release", "Release", "RELEASE", "point", "part", "expected", "split", "condition", "z", "real"),
    *("region", "low", "high", "low_0", "code", "code_0", "label", "labels", "attribute", "bins"),
    *("width", "cell", "codes", "published", "points", "slots", "groups", "spread", "wide", "part_of"),
    *("all", "among", "everybody", "y", "estimate_value", "Estimate_Group", "estimate_split"),
    *("estimate_people", "estimate_weight_1", "select", "order", "group", "user", "rowid"),
    *("current_date", "Value", "VALUE", "value_1", "É", "ß", "SS"),
)
"""Names that mean something in the statements of an estimate, or that SQL does not tell from another."""
CHARACTERS = (
    *("*", "^a.*$", "^.*$", 'a"b', "a'b", "a;b", "a b", "a.b", "a`b", "a\\b", "a/b", "$a$", "{a}", "[a]"),
    *("%s", "-- a", "'; DROP TABLE a", "a\nb", "a\tb", "\u00a0", "\u2003", "\u200b", " ", "a ", "a\u0000b"),
    *("_a", "0", "é", "e\u0301", "名", "A", "a", "null", "None", "NaN", "true"),
)
"""Characters that mean something to polars, SQL, YAML, HTML, a shell or a chart, or that nobody sees."""
PAIRS = ("age", "age_low", "age_high", "age_low_low", "age_high_low")
"""Names of which one may be another with the end of an interval."""
AWKWARD = (*INSIDE, *IN_SQL, *CHARACTERS, *PAIRS)
NASTY = (
    st.sampled_from(INSIDE) | st.sampled_from(IN_SQL) | st.sampled_from(CHARACTERS) | st.sampled_from(PAIRS)
)
COLUMN_NAMES = st.lists(NASTY | st.text(min_size=1, max_size=9), min_size=5, max_size=5, unique=True)
ORDINARY = ("patient", "years", "sex", "admitted", "illness")
"""What the columns are called where nothing is the matter: identifier, three quasi-identifiers, value."""
PARAMETERS = {
    "m_invariance": {"name": "m_invariance", "m": 2, "on_ineligible": "wait"},
    "e_equivalence": {
        "name": "e_equivalence",
        "m": 3,
        "e": 2,
        "on_ineligible": "counterfeit",
        "people_per_group": 2,
    },
    "global_guarantee": {"name": "global_guarantee", "l": 2, "strategy": "minimum", "on_ineligible": "wait"},
    "streamliner": {"name": "streamliner", "l": 2, "then": "m_invariance", "on_ineligible": "wait"},
}


def declare(principle, names):
    """A contract whose columns are called so."""
    identifier, years, sex, admitted, illness = names
    width = {"min_width": 10} if principle != "e_equivalence" else {}
    base = make_contract().model_dump(mode="json", include={"product", "series", "source", "releases"})
    return base | {
        "identifier": identifier,
        "quasi_identifiers": [
            {"name": years, "kind": "number", "domain": [0, 120]} | width,
            {"name": sex, "kind": "category", "order": ["F", "M"]},
            {"name": admitted, "kind": "date", "domain": ["2024-01-01", "2024-12-31"]},
        ],
        "sensitive": {"name": illness, "values": ["flu", "gout", "mumps", "angina", "asthma", "gastritis"]},
        "principle": PARAMETERS[principle],
    }


def snapshots(names):
    """T(1) and T(2): people leave, come, age, and change value; the values are skewed."""
    rows = [
        (
            f"P{n:02}",
            20 + n,
            "FM"[n % 2],
            dt.date(2024, 1, 1 + n),
            ["flu", "gout", "mumps", "angina"][n * n % 4],
        )
        for n in range(24)
    ]
    older = [(who, years + 1, *rest) for who, years, *rest in rows]
    changed = [(*rest, "asthma" if number % 5 == 0 else value) for number, (*rest, value) in enumerate(older)]
    for present in (rows[:16], [*changed[:2], *changed[6:]]):
        yield pl.DataFrame(present, schema=list(names), orient="row")


SUITES = Path(__file__).parents[2] / "data_contracts" / "expectations"


@dataclass(frozen=True)
class Made:
    """All that is made of a snapshot."""

    people: pl.DataFrame
    files: dict[str, bytes]
    """The published files, written with our own column names instead of the publisher's."""
    columns: dict[str, list[str]]
    """What the columns of each published table are called."""
    private: dict[str, pl.DataFrame]
    """The linkage, the buckets, and what the principle remembers of the release."""
    knowledge: dict[str, pl.DataFrame]
    """What an adversary remembers of it; the order of its rows says nothing."""
    found: dict[str, pl.DataFrame]
    """What the attacks counted and found."""
    figures: dict
    ours: dict[str, pl.DataFrame]
    """The published tables under our own column names."""


def estimates(principle, names, ours, folder):
    """What is estimated of a release whose columns have these names, from its published files alone."""
    contract = parse_contract(declare(principle, names))
    release_format = principle_of(contract).format(contract)
    for name, table in release_format.published(ours, contract).items():
        write_table(folder / f"{name}.parquet", dated(table, "2024-01-01"))
    stated = {"product": "hospital", "series": "v1", "release": "2024-01-01", "n": 1}
    stated |= {"lone_ends": 0} if release_format is GENERALIZATION else {}
    stated["principle"] = contract.principle.model_dump(mode="json")
    package = data_package(contract, release_format, stated, {names[-1]: "String"})
    years, sex, admitted, illness = map(quoted, column_names(package))
    together = (
        f"{years} BETWEEN 22 AND 30 AND {sex} = 'F' AND {admitted} < '2024-01-20' AND {illness} <> 'gout'"
    )
    asked = (("true", sex, "count(*)"), (together, illness, f"median({years})"))
    tables = [*copies_of(read_published(folder, package), 2, 1)]
    found = [table.rows() for table in tables]
    for where, by, of in asked:
        words = (Expression.of("", text, ["release", *column_names(package)], {}) for text in (where, by, of))
        question = Question(next(words), [next(words)], next(words))
        with Asker.open(question, {}) as asker:
            found += [sorted(asker.ask(table).rows()) for table in tables]
    return found


def make(principle, names, folder):
    """The releases of the snapshots under these names, through every step from a file to files."""
    contract = parse_contract(declare(principle, names))
    made, state, knowledge, promises = [], State.empty(), None, []
    for number, snapshot in enumerate(snapshots(names), start=1):
        snapshot.write_parquet(folder / "snapshot.parquet")
        people = entered(pl.read_parquet(folder / "snapshot.parquet"), contract)
        release_format = principle_of(contract).format(contract)
        candidate = principle_of(contract).release(
            people.drop(IDENTIFIER), contract, state, number, draws(number)
        )
        read = {name: _written_and_read(folder, name, table) for name, table in candidate.published.items()}
        promises.append(principle_of(contract).promise(contract.principle))
        attacked = attack_release(
            contract.table_schema,
            release_format,
            read,
            people.rename({PSEUDONYM: "person"}),
            promises,
            knowledge,
            linkage=candidate.linkage.rename({PSEUDONYM: "person"}),
            held_back=candidate.figures.held_back,
        )
        assert attacked.holds
        for check in checks_of(promises[-1], release_format, contract):
            suite = json.loads((SUITES / f"{check.name}.json").read_text())["expectations"]
            judged = {part["kwargs"].get(key) for part in suite for key in ("column", "column_A", "column_B")}
            assert judged - {None} <= set(attacked.tables[check.name].columns)
        ours = release_format.internal(read, contract)
        made.append(
            Made(
                people=people,
                files={name: _bytes(folder, table) for name, table in ours.items()},
                columns={name: table.columns for name, table in read.items()},
                private={
                    "linkage": candidate.linkage,
                    **({} if candidate.buckets is None else {"buckets in use": candidate.buckets}),
                    **{f"state: {name}": table for name, table in candidate.state.tables.items()},
                },
                knowledge=attacked.knowledge.tables(),
                found={**attacked.tables, "findings": attacked.findings},
                figures={
                    **candidate.figures.as_json(),
                    **{f"attack: {name}": figure for name, figure in attacked.figures.items()},
                    "format": list(release_format.figures(ours, contract).values()),
                },
                ours=ours,
            )
        )
        state, knowledge = candidate.state, attacked.knowledge.of_the_present(number)
    return made


def _written_and_read(folder, name, table):
    file = folder / f"{name}.parquet"
    write_table(file, table)
    read = pl.read_parquet(file)
    assert read.equals(table)
    assert read.columns == table.columns
    return read


def _bytes(folder, table):
    """A published table's bytes under our own column names."""
    write_table(folder / "renamed.parquet", table)
    return (folder / "renamed.parquet").read_bytes()


def published_columns(principle, names):
    """What the columns of the published tables are called, as the README says."""
    _, *attributes, value = names
    if principle != "e_equivalence":
        ends = [f"{name}_{end}" for name in attributes for end in ("low", "high")]
        tables = {"microdata": ["group_id", *ends, value]}
    else:
        tables = {"quasi_identifiers": ["group_id", *attributes], "sensitive": ["group_id", value, "count"]}
    return {**tables, "counterfeits": ["group_id", "count"]}


def refused_names(principle, names):
    """The names that two published columns would share, or that a column beside the identifier has."""
    columns = {name: ["release", *own] for name, own in published_columns(principle, names).items()}
    twice = {name for table in columns.values() for name, times in Counter(table).items() if times > 1}
    beside = {"group_id", "bucket_id"}.union(*columns.values())  # the linkage has the first two
    return twice | ({names[0]} & beside)


def renamed(tables, names):
    """Tables in which cells name columns, with the ordinary names replaced by these."""
    instead = dict(zip(ORDINARY, names, strict=True))
    return {
        name: table.with_columns(
            pl.col(column).replace(instead) for column in {"column", "name"} & set(table.columns)
        )
        for name, table in tables.items()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("names")


@pytest.fixture(scope="module")
def ordinary(folder):
    return cache(lambda principle: make(principle, ORDINARY, folder))


def in_any_order(tables):
    return {name: sorted(map(repr, table.rows())) for name, table in tables.items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, table in one.items():
        assert table.equals(other[name]), name


GROUPED = [name for name in PRINCIPLES if name != "sequential"]
"""Principles of tables with quasi-identifiers; a view has columns of another kind."""


OF_EACH_FORMAT = ["m_invariance", "e_equivalence"]
"""Readers count by a release's format, whatever its principle is."""


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", GROUPED)
@settings(max_examples=4)
@given(names=COLUMN_NAMES)
def test_any_column_names_at_all_give_what_ordinary_names_give(principle, names, folder, ordinary):
    assert_released_as_usual(principle, names, folder, ordinary)


def assert_released_as_usual(principle, names, folder, ordinary):
    """Releases, attacks and counts are those of ordinary names, or the names are refused."""
    if taken := refused_names(principle, names):
        with pytest.raises(ContractError) as refused:
            parse_contract(declare(principle, names))
        assert [message.split(" bears ")[0] for _, message in refused.value.faults] == [
            f"the column {name}" for name in sorted(taken)
        ]
        return
    for usual, here in zip(ordinary(principle), make(principle, names, folder), strict=True):
        assert here.people.equals(usual.people)
        assert here.columns == published_columns(principle, names)
        assert here.files == usual.files
        assert_same(here.private, renamed(usual.private, names))
        assert in_any_order(here.knowledge) == in_any_order(usual.knowledge)
        assert_same(here.found, renamed(usual.found, names))
        assert here.figures == usual.figures
    if principle in OF_EACH_FORMAT:
        assert_counted_as_usual(principle, names, folder, ordinary)


def assert_counted_as_usual(principle, names, folder, ordinary):
    usual = ordinary(principle)[-1].ours
    found, expected = estimates(principle, names, usual, folder), counted(principle, ordinary, folder)
    assert [len(answer) for answer in found] == [len(answer) for answer in expected]
    cells = (chain.from_iterable(chain(*answers)) for answers in (found, expected))
    for one, other in zip(*cells, strict=True):
        assert one == other


@cache
def counted(principle, ordinary, folder):
    return estimates(principle, ORDINARY, ordinary(principle)[-1].ours, folder)


FIVES = [(*AWKWARD, *AWKWARD[:4])[at : at + 5] for at in range(0, len(AWKWARD), 5)]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("at", range(len(FIVES)))
def test_every_awkward_name_is_released_as_an_ordinary_one(at, folder, ordinary):
    """Under one principle after the other."""
    assert_released_as_usual(GROUPED[at % len(GROUPED)], FIVES[at], folder, ordinary)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    "at", [at for at in range(len(FIVES)) if GROUPED[at % len(GROUPED)] not in OF_EACH_FORMAT]
)
def test_every_awkward_name_is_counted_as_an_ordinary_one(at, folder, ordinary):
    """In one format or the other, those that are not counted above."""
    names, principle = FIVES[at], OF_EACH_FORMAT[at // 2 % 2]
    if not refused_names(principle, names):
        assert_counted_as_usual(principle, names, folder, ordinary)
