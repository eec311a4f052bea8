import copy
import datetime as dt
import functools
from typing import Any

import polars as pl
import pytest

from republish.anonymize.contract import FileSource
from republish.anonymize.contract.hierarchy import AS_DEEP
from republish.anonymize.contract.source import SCHEDULES
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import PRINCIPLES, parse_contract, principle_of

PARAMETERS = [name for name in PRINCIPLES["m_invariance"].parameters.model_fields if name != "name"]
ONE_LINE = "must be one line of text, without tabs and other control characters"
HOSPITAL = {
    "product": "hospital",
    "series": "v1",
    "source": {"path": "snapshots/{release}.parquet"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 */3 *"},
    "identifier": "patient_id",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 120], "min_width": 2},
        {"name": "income", "kind": "number", "domain": [0.0, 1e6]},
        {"name": "admitted", "kind": "date", "domain": ["2020-01-01", dt.date(2020, 12, 31)], "min_width": 7},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
        {"name": "birthplace", "kind": "category", "hierarchy": [["Paris", "France"], ["Lyon", "France"]]},
    ],
    "sensitive": {"name": "disease", "values": ["bronchitis", "dyspepsia", "flu", "gastritis"]},
    "principle": {"name": "m_invariance", "m": 2},
}


def hospital(**changed: object) -> dict[str, Any]:
    return copy.deepcopy(HOSPITAL) | changed


def attribute(**declared):
    """A contract whose only quasi-identifier is the one declared."""
    return hospital(quasi_identifiers=[{"name": "a", **declared}])


def faults(declared, **options):
    with pytest.raises(ContractError) as refused:
        parse_contract(declared, **options)
    return refused.value.faults


def test_what_is_declared_is_what_is_there():
    contract = parse_contract(hospital())
    age, income, admitted, sex, birthplace = contract.quasi_identifiers
    assert (age.domain, age.min_width, age.discrete, age.dtype) == ((0, 120), 2, True, pl.Int64)
    assert (income.discrete, income.dtype) == (False, pl.Float64)
    assert admitted.domain == (dt.date(2020, 1, 1), dt.date(2020, 12, 31))
    assert (sex.labels, birthplace.labels) == (("F", "M"), ("Paris", "Lyon"))
    assert list(contract.column_names().items()) == [
        ("identifier", "patient_id"),
        ("qi_0", "age"),
        ("qi_1", "income"),
        ("qi_2", "admitted"),
        ("qi_3", "sex"),
        ("qi_4", "birthplace"),
        ("value", "disease"),
    ]
    assert list(contract.attributes()) == [
        ("qi_0", age),
        ("qi_1", income),
        ("qi_2", admitted),
        ("qi_3", sex),
        ("qi_4", birthplace),
    ]


def test_an_attacker_is_given_the_columns_of_a_contract_and_not_what_it_promises():
    contract = parse_contract(hospital())
    schema = contract.table_schema
    assert set(type(schema).model_fields) == {"identifier", "quasi_identifiers", "sensitive", "rows", "row"}
    assert schema.column_names() == contract.column_names()
    assert schema.quasi_identifiers == contract.quasi_identifiers
    assert schema.sensitive == contract.sensitive


def test_what_is_not_declared_has_the_documented_default():
    contract = parse_contract(hospital())
    assert contract.sensitive.semantics == "persistent"
    assert (contract.principle.on_ineligible, contract.principle.on_value_change) == ("refuse", "separate")
    assert (contract.keep_private, contract.owners, contract.description) == ("all", (), "")


@pytest.mark.parametrize("declared", [None, [], "product: x", 3])
def test_a_contract_that_is_no_mapping_is_one_fault(declared):
    assert faults(declared) == [("", "must be a mapping of keys (product, series, source, …)")]


@pytest.mark.parametrize(
    "key",
    ["product", "series", "source", "releases", "identifier", "quasi_identifiers", "sensitive", "principle"],
)
def test_a_missing_key_is_named(key):
    declared = hospital()
    del declared[key]
    assert faults(declared) == [(key, "is missing")]


@pytest.mark.parametrize(
    ("part", "accepted"),
    [
        (
            "source",
            (
                "decimal, thousands, date_format, null_values, bounds, zone, separator, encoding, path,"
                " columns, names, where, final_newline, widths, sheet, header_row, labels"
            ),
        ),
        ("releases", "first, cron, last, dates"),
        (
            "sensitive",
            (
                "unit, description, missing, name, kind, bins, hierarchy, level, values, renamed,"
                " not_sensitive, semantics"
            ),
        ),
        (
            "principle",
            (
                "name, m, on_ineligible, people_per_group, on_value_change, effort, format, adversary,"
                " regroup, values_per_person"
            ),
        ),
    ],
)
def test_an_unknown_key_is_named_with_those_accepted_beside_it(part, accepted):
    declared = hospital()
    declared[part]["number"] = 1
    assert faults(declared) == [(f"{part}.number", f"is unknown; accepted: {accepted}")]


def test_an_unknown_key_of_a_quasi_identifier_is_named_by_its_column():
    declared = attribute(kind="number", domain=[0, 1], number=1)
    assert faults(declared) == [
        (
            "quasi_identifiers[a].number",
            "is unknown; accepted: unit, description, missing, kind, name, domain, min_width, step",
        )
    ]


def test_an_unknown_key_of_the_contract_is_named_with_all_keys():
    (key, message), *more = faults(hospital(sourse={}))
    assert (key, more) == ("sourse", [])
    words, keys = message.split(": ")
    assert words == "is unknown; accepted"
    optional = {"description", "owners", "keep_private", "retention", "corrections", "shards"}
    optional |= {"published_to", "sources", "identifiers"}
    optional |= {"title", "licence", "contact", "citation", "governance", "catalogue"}
    optional |= {
        "upstream",
        "expect",
        "accept",
        "supersedes",
        "separate_readers",
        "same_people",
        "rows",
        "row",
    }
    assert sorted(keys.split(", ")) == sorted(HOSPITAL.keys() | optional)


number, date, category = (functools.partial(dict, kind=kind) for kind in ("number", "date", "category"))
KINDS = "accepted: number, date, category"
NO_NUMBER = "must be a number within 2^53, not"
ONE_OF_TWO = "give either order (a list of labels) or hierarchy (a CSV file), one of the two"
OF_FRACTIONS = "is for whole numbers, and the domain is one of fractions: leave step out"
NO_STEP = (
    "must divide the domain's lowest value (0) and min_width (5), and 3 does not: cells begin at values that"
    " there may be"
)
OF_A_COLUMN = [
    ({"domain": [0, 1]}, "", f"kind is missing; {KINDS}"),
    ({"kind": "text"}, ".kind", f"text is unknown; {KINDS}"),
    (number(), ".domain", "is missing"),
    (number(domain=[0]), ".domain", "must be a list of two, [lowest, highest], not [0]"),
    (number(domain=["zero", 1]), ".domain[0]", f"{NO_NUMBER} zero"),
    (number(domain=[0, float("inf")]), ".domain[1]", f"{NO_NUMBER} inf"),
    (number(domain=[float("nan"), 1]), ".domain[0]", f"{NO_NUMBER} nan"),
    (number(domain=[5, 1]), ".domain", "must go from the lowest to the highest value, not from 5 to 1"),
    (
        number(domain=[0, 9], min_width=11),
        ".min_width",
        "must be between 0 and the domain's width (10), not 11",
    ),
    (
        number(domain=[0, 9], min_width=1.5),
        ".min_width",
        "must be a whole number, as the domain's bounds are, not 1.5",
    ),
    (number(domain=[0, 9], step=0), ".step", "must be at least 1, not 0"),
    (number(domain=[0.0, 9.0], step=3), ".step", OF_FRACTIONS),
    (number(domain=[0, 9], min_width=5, step=3), ".step", NO_STEP),
    (date(domain=["2024-02-30", "2024-03-01"]), ".domain[0]", "must be a date, YYYY-MM-DD, not 2024-02-30"),
    (date(domain=[0, "2024-03-01"]), ".domain[0]", "must be a date, YYYY-MM-DD, not 0"),
    (
        date(domain=["2024-01-01", "2024-01-31"], min_width=32),
        ".min_width",
        "must be between 0 and the domain's width (31), not 32",
    ),
    (category(order=[1]), ".order[0]", "must be text, not 1: write it in quotes"),
    (category(order=[]), ".order", "needs at least one label"),
    (category(order=["x", "x"]), ".order", "lists x more than once"),
    (category(), ".hierarchy", ONE_OF_TWO),
    (category(order=["x"], hierarchy=[["x"]]), ".hierarchy", ONE_OF_TWO),
    (
        category(order=["x", "y"], min_width=3),
        ".min_width",
        "must be between 0 and the domain's width (2), not 3",
    ),
    (number(domain=[0, 1], unit="two\nlines"), ".unit", ONE_LINE),
]


@pytest.mark.parametrize(("declared", "key", "message"), OF_A_COLUMN)
def test_each_mistake_in_a_column_is_one_fault_with_its_key_and_what_is_accepted(declared, key, message):
    assert faults(attribute(**declared)) == [(f"quasi_identifiers[a]{key}", message)]


NO_KEY = (
    "is no asset key: write its parts with / between them, as in warehouse/patients; each has letters,"
    " digits, _ . and -"
)
NAMES = "must be an e-mail address or team:name"
NAMED = f"name is missing; accepted: {', '.join(PRINCIPLES)}"
TAKEN = "the column {} bears the name of a column of republish's own: rename it in the source"
ROLES = "the column age has more than one role: identifier, row, quasi-identifier or sensitive"
TEXT_FILES = ".csv, .csv.gz, .csv.zst, .tsv, .tsv.gz, .tsv.zst, .dat, .txt, .asc, .fwf, .prn"
OF_THE_CONTRACT = [
    ({"product": "Hospital"}, "product", "Hospital is not accepted; it must match ^[a-z][a-z0-9_]*$"),
    ({"product": "p" * 101}, "product", "must have at most 100 letters, not 101"),
    ({"series": 1}, "series", "must be text: write 1 in quotes"),
    ({"series": "a/b"}, "series", "a/b is not accepted; it must match ^[A-Za-z0-9][A-Za-z0-9_.-]*$"),
    ({"series": "s" * 300}, "series", "must have at most 100 letters, not 300"),
    ({"owners": ["me"]}, "owners", f"me {NAMES}"),
    ({"owners": ["@"]}, "owners", f"@ {NAMES}"),
    ({"owners": ["team:"]}, "owners", f"team: {NAMES}"),
    ({"upstream": "a/b"}, "upstream", "must be a list, not a/b"),
    ({"upstream": ["a//b"]}, "upstream", f"a//b {NO_KEY}"),
    ({"upstream": [""]}, "upstream", f"empty text {NO_KEY}"),
    (
        {"upstream": ["hospital/x"]},
        "upstream",
        "hospital/x has this product's own prefix: name an asset that others make",
    ),
    ({"upstream": ["a/b", "a/b"]}, "upstream", "lists a/b more than once"),
    ({"source": "x.csv"}, "source", "must be a mapping of keys, not x.csv"),
    (
        {"source": {"path": "x.csv"}},
        "source.path",
        "needs {release} in it, or in where: each release has a snapshot of its own",
    ),
    (
        {"source": {"path": "{release}.json"}},
        "source.path",
        f"must end in .parquet, .xlsx, .sas7bdat, .sav, .dta, .por, .xpt, {TEXT_FILES}",
    ),
    (
        {"source": {"path": "{release}.txt"}},
        "source",
        (
            "path: nothing says which letters of a line are which column: write widths: {person: 1-6, age:"
            " 7-9}; if something stands between columns, call the file .csv and say it as separator"
        ),
    ),
    (
        {"source": {"path": "{release}.csv", "zone": "Europe/Nowhere"}},
        "source.zone",
        "Europe/Nowhere is no time zone that is known: Europe/Berlin is one",
    ),
    (
        {"source": {"path": "{release:day}.csv"}},
        "source.path",
        "has day for the date, and no part of a date is in it: %Y%m, say",
    ),
    (
        {"sources": {"2024-07-01": {"seperator": ";"}}},
        "sources.2024-07-01.seperator",
        f"is unknown; accepted: {', '.join(FileSource.model_fields)}",
    ),
    ({"sources": {"July": {"separator": ";"}}}, "sources", "July must be the date of a release, YYYY-MM-DD"),
    ({"sources": {"2024-07-01": ";"}}, "sources.2024-07-01", "must be a mapping of keys, not ;"),
    (
        {"sources": {"2024-07-01": {"path": "x.csv"}}},
        "sources.2024-07-01.path",
        "needs {release} in it, or in where: each release has a snapshot of its own",
    ),
    (
        {"source": {"dsn": "duckdb:", "query": "SELECT 1"}, "sources": {"2024-07-01": {"separator": ";"}}},
        "sources",
        "is for files: a query or a table says by itself what it answers of which release",
    ),
    (
        {"releases": {"first": "2024-01-01", "cron": "@fortnightly"}},
        "releases.cron",
        f"@fortnightly is no word for a schedule; there are {', '.join(SCHEDULES)}",
    ),
    ({"source": {"dsn": "duckdb:///x.duckdb"}}, "source.query", "is missing"),
    (
        {"source": {"dsn": "mysql://x", "query": "SELECT 1"}},
        "source.dsn",
        "must start with duckdb:///, sqlite:/// or postgresql://, or be duckdb:",
    ),
    (
        {"source": {"path": "{release}.csv", "separator": "::"}},
        "source.separator",
        "must be one letter, no quotation mark and no line end, not ::",
    ),
    (
        {"source": {"path": "{release}.csv", "encoding": "ebcdic"}},
        "source.encoding",
        "ebcdic is no encoding that is known; usual ones are utf-8, utf-16, latin-1, cp1252",
    ),
    (
        {"source": {"path": "{release}.csv", "encoding": "hex"}},
        "source.encoding",
        "hex is no encoding that is known; usual ones are utf-8, utf-16, latin-1, cp1252",
    ),
    (
        {"source": {"path": "{release}.csv", "date_format": "%d.%m.%y"}},
        "source.date_format",
        "must have %d, %m and %Y once each, as in %d.%m.%Y, and may have %H, %M and %S, not %d.%m.%y",
    ),
    ({"source": {"path": "{release}.csv", "decimal": ";"}}, "source.decimal", "; is unknown; accepted: ., ,"),
    (
        {"source": {"path": "{release}.csv", "decimal": ",", "columns": {"age": {"thousands": ","}}}},
        "source",
        "decimal and thousands are the same sign, ,: write another one for one of them",
    ),
    (
        {"source": {"path": "{release}.csv", "columns": {"agee": {"decimal": ","}}}},
        "",
        "source.columns: names agee, which is no column of this contract",
    ),
    (
        {"releases": {"first": True, "cron": "@daily"}},
        "releases.first",
        "must be a date, YYYY-MM-DD, not true",
    ),
    (
        {"releases": {"first": "2024-02-30", "cron": "0 0 1 * *"}},
        "releases.first",
        "must be a date, YYYY-MM-DD, not 2024-02-30",
    ),
    (
        {"quasi_identifiers": []},
        "quasi_identifiers",
        "must be a list of at least one column, {name: …, kind: …}",
    ),
    ({"quasi_identifiers": ["age"]}, "quasi_identifiers[0]", "must be a mapping of keys, not age"),
    ({"principle": {"name": "k"}}, "principle.name", f"k is unknown; accepted: {', '.join(PRINCIPLES)}"),
    ({"principle": {"m": 2}}, "principle", NAMED),
    ({"principle": {"name": "m_invariance", "m": 1}}, "principle.m", "m (1) must be at least 2"),
    ({"principle": {"name": "m_invariance", "m": 2.5}}, "principle.m", "must be a whole number, not 2.5"),
    (
        {"principle": {"name": "m_invariance", "m": "4"}},
        "principle.m",
        "must be a whole number, not text: write 4 without quotes",
    ),
    (
        {"principle": {"name": "m_invariance", "m": 5}},
        "principle.m",
        "m (5) needs as many sensitive values, and sensitive.values lists 4",
    ),
    (
        {"principle": {"name": "m_invariance", "m": 2, "e": 2}},
        "principle.e",
        (
            "is unknown; accepted: name, m, on_ineligible, people_per_group, on_value_change, effort, format,"
            " adversary, regroup, values_per_person"
        ),
    ),
    (
        {"principle": {"name": "m_invariance", "m": 2, "spread": {"cost": 0.1}}},
        "principle.spread",
        (
            "is no longer accepted. Declare coarser bins of the sensitive number, so that each candidate"
            " value of a person is a wide range"
        ),
    ),
    (
        {"principle": {"name": "m_invariance", "m": 2, "on_ineligible": "defer"}},
        "principle.on_ineligible",
        (
            "defer is no longer accepted: people who were held back were known to have a frequent value."
            " Write wait, counterfeit or refuse"
        ),
    ),
    (
        {"principle": {"name": "e_equivalence", "m": 2, "e": 2, "on_value_change": "hold_back"}},
        "principle.on_value_change",
        (
            "hold_back is no longer accepted: people who were held back were known to have a value that is"
            " not in their signature. Write separate or refuse"
        ),
    ),
    ({"keep_private": 0}, "keep_private", "must be all, or a whole number of releases from 1 on, not 0"),
    ({"identifier": ""}, "identifier", "must not be empty"),
    ({"identifier": "age"}, "", ROLES),
    ({"identifier": "group_id"}, "", TAKEN.format("group_id")),
    ({"identifier": "bucket_id"}, "", TAKEN.format("bucket_id")),
    ({"identifier": "income_high"}, "", TAKEN.format("income_high")),
    ({"sensitive": {"name": "group_id"}}, "", TAKEN.format("group_id")),
    ({"sensitive": {"name": "age_low"}}, "", TAKEN.format("age_low")),
    ({"sensitive": {"name": "release"}}, "", TAKEN.format("release")),
    ({"expect": {"people": [0, 9]}}, "expect.people", "must be [fewest, most], from 1 on, not [0, 9]"),
    ({"expect": {"people": [9, 3]}}, "expect.people", "must be [fewest, most], from 1 on, not [9, 3]"),
    ({"expect": {"people": 9}}, "expect.people", "must be a list, not 9"),
    ({"expect": {"carried": 50}}, "expect.carried", "must be a share between 0 and 1, not 50"),
    ({"expect": {"guessed": 2}}, "expect.guessed", "must be a share between 0 and 1, not 2"),
    (
        {"expect": {"guessed": 0.4}, "shards": 2},
        "",
        (
            "expect.guessed: is measured of all people together, and shards are attacked one by one:"
            " leave it out"
        ),
    ),
    ({"expect": {"new": "all"}}, "expect.new", "must be a share between 0 and 1, not all"),
    ({"expect": {"changed": True}}, "expect.changed", "must be a share between 0 and 1, not true"),
    (
        {"expect": {"left": 0.1}},
        "expect.left",
        "is unknown; accepted: people, carried, new, changed, moved, counterfeits, guessed",
    ),
    (
        {"accept": {"2024-07-01": ["carried", "carryed"]}},
        "accept.2024-07-01",
        (
            "carryed is nothing that can be accepted; did you mean carried? There are people, carried, new,"
            " changed, renamed, identifiers, extended_identifiers, alike, moved, counterfeits, guessed,"
            f" labels, own_values, free_text, sensitive.values, {', '.join(PARAMETERS)},"
            " and columns with .kind, .min_width, .missing, .order or .hierarchy"
        ),
    ),
    ({"accept": {"July": ["carried"]}}, "accept", "July must be the date of a release, YYYY-MM-DD"),
    ({"accept": "carried"}, "accept", "must be a mapping, not carried"),
    ({"accept": {"2024-07-01": "carried"}}, "accept.2024-07-01", "must be a list, not carried"),
    ({"separate_readers": "yes"}, "separate_readers", "must be true or false, not yes"),
    ({"supersedes": "v1"}, "", "supersedes: a series (v1) can't go on from itself"),
    (
        {"supersedes": "v0", "separate_readers": True},
        "",
        "give either supersedes or separate_readers, one of the two",
    ),
]


@pytest.mark.parametrize(("changes", "key", "message"), OF_THE_CONTRACT)
def test_each_mistake_is_one_fault_with_its_key_and_what_is_accepted(changes, key, message):
    assert faults(hospital(**changes)) == [(key, message)]


NOT_LISTED = "names cold, which is not listed under sensitive.values"
OF_VALUES = [
    ({"values": ["flu", 3]}, "values", "must be all text or all whole numbers, and at least one value"),
    ({"values": ["flu", "flu"]}, "values", "lists flu more than once"),
    ({"values": [1, 2, 10**30]}, "values", "must be whole numbers of at most 64 bits"),
    (
        {"values": ["a", ""]},
        "values",
        "lists empty text, which is no value: a snapshot's empty fields are missing values",
    ),
    ({"semantics": "eternal"}, "semantics", "eternal is unknown; accepted: persistent, transient"),
    ({"values": ["flu", "gout"], "renamed": {"cold": "flu"}}, "renamed", NOT_LISTED),
    (
        {"renamed": {"flu": "ill", "gout": "ill"}},
        "renamed",
        "gives ill to two values: the source must call each one differently",
    ),
]


@pytest.mark.parametrize(("declared", "key", "message"), OF_VALUES)
def test_each_mistake_in_the_sensitive_values_is_one_fault(declared, key, message):
    assert faults(hospital(sensitive={"name": "disease", **declared})) == [(f"sensitive.{key}", message)]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "holds no labels"),
        (
            [[], ["Paris", "France"]],
            "line 1: holds no labels; a line is a label and those above it, root last",
        ),
        ([["Paris", "France"], ["Lyon"]], f"line 2: has 1 labels, line 1 has 2: {AS_DEEP}"),
        ([["Paris", "France"], ["Rome", "Italy"]], "line 2: ends in the root Italy, line 1 in France"),
        ([["Paris", "*"], ["Rome", "*"], ["Paris", "*"]], "line 3: Paris is in line 1 already"),
        (
            [["Paris", "France", "Europe", "*"], ["Lyon", "France", "Asia", "*"]],
            "line 2: France has another parent than in line 1",
        ),
    ],
)
def test_a_hierarchy_that_is_no_tree_is_reported_with_its_line(paths, message):
    """Whether it stands in the contract itself or in a file that the contract names."""
    key = "quasi_identifiers[a].hierarchy"
    assert faults(attribute(kind="category", hierarchy=paths)) == [(key, message)]
    named = attribute(kind="category", hierarchy="a.csv")
    assert faults(named, context={"read_hierarchy": lambda _: paths}) == [(key, f"a.csv, {message}")]


def test_the_leaves_of_a_hierarchy_are_ordered_as_in_its_tree_however_its_lines_are():
    paths = [
        ["Rome", "Italy", "*"],
        ["Lyon", "France", "*"],
        ["Milan", "Italy", "*"],
        ["Brest", "France", "*"],
    ]
    (places,) = parse_contract(attribute(kind="category", hierarchy=paths)).quasi_identifiers
    assert places.labels == ("Rome", "Milan", "Lyon", "Brest")


def test_a_hierarchy_file_needs_somebody_who_reads_files():
    ((key, message),) = faults(attribute(kind="category", hierarchy="a.csv"))
    assert (key, message.split(":")[0]) == (
        "quasi_identifiers[a].hierarchy",
        "names a file (a.csv), and there are no files here",
    )


SERVER = "postgresql://me@127.0.0.1/hospital"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://me:open-sesame@127.0.0.1/hospital",
        "postgresql://me:open%2Dsesame@127.0.0.1/hospital",
        "postgresql://me:open/sesame@127.0.0.1/hospital",
        "postgresql://me:open@sesame@127.0.0.1/hospital",
        "postgresql://:open-sesame@/hospital",
        "postgresql://me:open-sesame@a,b:5433/hospital",
        f"{SERVER}?password=open-sesame",
        f"{SERVER}?connect_timeout=3&PassWord=open-sesame",
        f"{SERVER}?pass%77ord=open-sesame",
        f"{SERVER}?sslpassword=open-sesame",
        f"{SERVER}?oauth_client_secret=open-sesame",
        "host=127.0.0.1 user=me password=open-sesame",
        "postgres://me:open-sesame@127.0.0.1/hospital",
    ],
)
def test_a_password_is_no_part_of_a_contract(dsn):
    ((key, message),) = faults(hospital(source={"dsn": dsn, "query": "SELECT 1"}))
    assert key == "source.dsn"
    assert "PGPASSWORD" in message or "must start with" in message
    assert "open" not in message
    assert "sesame" not in message


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://127.0.0.1:5432/hospital",
        "postgresql://me@127.0.0.1:5432,[::1]:5433/hospital?passfile=/run/passes",
        "postgresql:///hospital?service=clinic",
        "postgresql://127.0.0.1:5432/hospital?user=me@clinic",
        "postgresql://me@%2Fvar%2Frun/hospital?connect_timeout=3",
    ],
)
def test_addresses_that_name_where_a_password_is_are_fine(dsn):
    assert parse_contract(hospital(source={"dsn": dsn, "query": "SELECT 1"})).source.dsn == dsn


def test_all_faults_are_reported_at_once():
    declared = hospital(product="A", identifier="age", principle={"name": "m_invariance", "m": 0}, unknown=1)
    declared["quasi_identifiers"][0] |= {"domain": [9, 0], "min_width": -1, "also": 1}
    declared["quasi_identifiers"][3]["order"] = [True]
    keys = [key for key, _ in faults(declared)]
    assert sorted(keys) == sorted(
        [
            "product",
            "quasi_identifiers[age].domain",
            "quasi_identifiers[age].also",
            "quasi_identifiers[sex].order[0]",
            "principle.m",
            "unknown",
            "",  # the column age has two roles
        ]
    )


def exact(**changed):
    """A contract of a principle that publishes exact quasi-identifiers, in two tables."""
    whole = [
        {name: part for name, part in qi.items() if name != "min_width"}
        for qi in HOSPITAL["quasi_identifiers"]
    ]
    principle = {"name": "e_equivalence", "m": 2, "e": 2}
    return hospital(**{"quasi_identifiers": whole, "principle": principle} | changed)


@pytest.mark.parametrize("name", ["pseudonym", "identifier", "value", "qi_0", "qi_0_low", "people", "alike"])
@pytest.mark.parametrize("declare", [hospital, exact])
def test_names_that_are_used_inside_alone_are_open_to_every_column(declare, name):
    declared = declare(quasi_identifiers=[{"name": "age", "kind": "number", "domain": [0, 120]}])
    attribute = [{"name": name, "kind": "number", "domain": [0, 120]}]
    assert parse_contract(declared | {"identifier": name}).identifier == name
    assert parse_contract(declared | {"quasi_identifiers": attribute}).quasi_identifiers[0].name == name
    assert parse_contract(declared | {"sensitive": {"name": name}}).sensitive.name == name


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        (exact(sensitive={"name": "count"}), "count"),
        (exact(identifier="count"), "count"),
        (exact(sensitive={"name": "group_id"}), "group_id"),
    ],
)
def test_a_name_is_refused_where_the_format_of_the_principle_publishes_it_itself(declared, name):
    assert faults(declared) == [("", TAKEN.format(name))]


def test_intervals_need_the_names_of_their_ends_and_exact_quasi_identifiers_do_not():
    sensitive = {"name": "age_low"}
    assert parse_contract(exact(sensitive=sensitive)).sensitive.name == "age_low"
    assert parse_contract(hospital(sensitive={"name": "count"})).sensitive.name == "count"
    ((_, message),) = faults(hospital(sensitive=sensitive))
    assert message.startswith("the column age_low ")


def test_faults_of_the_whole_contract_are_reported_together_when_its_parts_are_right():
    declared = hospital(identifier="group_id", principle={"name": "e_equivalence", "m": 5, "e": 2})
    too_wide = (
        "min_width of age, admitted can't be kept: the format anatomy publishes exact quasi-identifiers."
        " Leave it out, or make the column coarser in the source"
    )
    assert faults(declared) == [
        ("", TAKEN.format("group_id")),
        ("", too_wide),
        ("principle.m", "m (5) needs as many sensitive values, and sensitive.values lists 4"),
    ]
    assert [key for key, _ in faults(declared | {"keep_private": 0})] == ["keep_private"]


@pytest.mark.parametrize(("declare", "name"), [(hospital, "m_invariance"), (exact, "e_equivalence")])
def test_a_contract_has_the_parameters_of_the_principle_it_names(declare, name):
    contract = parse_contract(declare())
    principle = principle_of(contract)
    assert principle.name == contract.principle.name == name
    assert type(contract.principle) is principle.parameters


def test_the_error_names_file_count_and_every_key():
    with pytest.raises(ContractError) as refused:
        parse_contract(hospital(series=1, keep_private="none"), where="hospital.yaml")
    assert str(refused.value).splitlines() == [
        "hospital.yaml: 2 faults in the contract",
        "  series: must be text: write 1 in quotes",
        "  keep_private: must be all, or a whole number of releases from 1 on, not none",
    ]


def test_a_fault_of_an_option_is_not_said_to_be_in_the_contract():
    assert (
        str(ContractError("--through", [("", "2024-02-30 is no date")])) == "--through: 2024-02-30 is no date"
    )


def test_the_privacy_digest_tells_what_bears_on_privacy_from_what_does_not():
    digest = parse_contract(hospital()).privacy_digest()
    assert parse_contract(hospital(description="x", keep_private=3)).privacy_digest() == digest
    assert parse_contract(hospital(principle={"name": "m_invariance", "m": 3})).privacy_digest() != digest
    assert parse_contract(attribute(kind="number", domain=[0, 1])).privacy_digest() != digest


@pytest.mark.parametrize(
    ("others", "digest"),
    [
        ([], "f6641f5b626e1b015bb95d6bbe8ab6df21c49b1f3d955140b06ef90d71d2e5f0"),
        (
            [{"name": "cost", "kind": "number", "bins": [0, 100, 200]}],
            "689e28337419e2aa643d2a896754c0d44a58afdd9212ce43300d1bbc1a56e2d9",
        ),
    ],
)
def test_the_privacy_digest_of_a_contract_stays_what_manifests_state(others, digest):
    disease = {"name": "disease", "values": ["flu", "gastritis", "HIV"]}
    principle = {"name": "m_invariance", "m": 2, "on_value_change": "refuse", "people_per_group": 2}
    declared = hospital(sensitive=[disease, *others] if others else disease, principle=principle)
    assert parse_contract(declared).privacy_digest() == digest


def test_a_contract_does_not_change_after_construction():
    contract = parse_contract(hospital())
    with pytest.raises(ValueError, match="frozen"):
        contract.product = "other"


@pytest.mark.parametrize("key", ["title", "licence", "contact", "citation"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "must be text of at most 1000 letters, and not empty"),
        ("x" * 1001, "must be text of at most 1000 letters, and not empty"),
        ("two\nlines", ONE_LINE),
        (7, "must be text: write 7 in quotes"),
    ],
)
def test_words_for_readers_are_one_line_of_text(key, words, message):
    assert faults(hospital(**{key: words})) == [(key, message)]


@pytest.mark.parametrize(
    "key",
    [
        *("controller", "purpose", "legal_basis", "recipients", "retention", "auditor"),
        *("data_subjects", "transfers", "security", "officer", "terms"),
    ],
)
def test_what_is_said_of_responsibility_is_one_line_of_text_and_bears_on_no_promise(key):
    message = "must be text of at most 1000 letters, and not empty"
    assert faults(hospital(governance={key: " "})) == [(f"governance.{key}", message)]
    said, silent = (parse_contract(hospital(**keys)) for keys in ({"governance": {key: "Said."}}, {}))
    assert getattr(said.governance, key) == "Said."
    assert said.privacy_digest() == silent.privacy_digest()


def test_words_of_a_column_are_kept():
    (age,) = parse_contract(
        attribute(kind="number", domain=[0, 1], unit="years", description="at admission")
    ).quasi_identifiers
    assert (age.unit, age.description) == ("years", "at admission")
