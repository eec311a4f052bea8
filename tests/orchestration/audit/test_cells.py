"""What a cell of another tool's table covers, by its spelling and the domain of its attribute."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.contract import Written
from republish.anonymize.principles import parse_contract
from republish.orchestration.audit.read.cells import NoSuchValue, cell_reader, end_reader
from tests.clinic import CLINIC

DECLARED = parse_contract(
    {
        **CLINIC,
        "identifier": "id",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [-20, 120]},
            {"name": "weight", "kind": "number", "domain": [0.5, 300.0]},
            {"name": "born", "kind": "date", "domain": ["1900-01-01", "2030-12-31"]},
            {"name": "town", "kind": "category", "order": ["12001", "47001", "12002"]},
            {"name": "code", "kind": "category", "order": ["A-1", "A-2", "B, other", "C+", "NA"]},
            {"name": "zip", "kind": "number", "domain": [10000, 99999]},
            {"name": "cost", "kind": "number", "domain": [0, 1_000_000]},
        ],
        "sensitive": {"name": "disease"},
        "principle": {"name": "m_invariance", "m": 2},
    }
)
AGE, WEIGHT, BORN, TOWN, CODE, ZIP, COST = DECLARED.quasi_identifiers
PATHS = [["12001", "12", "*"], ["47001", "47", "*"], ["12002", "12", "*"]]
ANYTHING = ("*", "?", "", "NA")
DAY_FIRST, COMMA = Written(date_format="%d.%m.%Y"), Written(decimal=",")


def days(*dates):
    return tuple((dt.date.fromisoformat(date) - dt.date(1970, 1, 1)).days for date in dates)


def year(number):
    return days(f"{number}-01-01", f"{number}-12-31")


SPELLINGS = {
    "whole numbers": (
        AGE,
        None,
        [
            ("21", [(21, 21)]),
            ("21.0", [(21, 21)]),
            ("2.1e1", [(21, 21)]),
            ("[21, 23]", [(21, 23)]),
            ("[21,23)", [(21, 22)]),
            ("(20, 23[", [(21, 22)]),
            ("]20; 23]", [(21, 23)]),
            ("[21-23]", [(21, 23)]),
            ("[-5--3]", [(-5, -3)]),
            ("21-23", [(21, 23)]),
            ("21 \u2013 23", [(21, 23)]),
            ("21\u221223", [(21, 23)]),
            ("21 to 23", [(21, 23)]),
            ("21..23", [(21, 23)]),
            ("21:23", [(21, 23)]),
            ("-5--3", [(-5, -3)]),
            ("-5 - 3", [(-5, 3)]),
            ("20.5-30.5", [(21, 30)]),
            ("20.5 to 30.5", [(21, 30)]),
            ("(20.5, 30.5]", [(21, 30)]),
            ("[20.5, 30.5)", [(21, 30)]),
            ("[20.0, 30.0)", [(20, 29)]),
            ("-9.5--0.5", [(-9, -1)]),
            ("2*", [(20, 29)]),
            ("1**", [(100, 199)]),
            ("*5", [(n, n) for n in range(15, 96, 10)]),
            ("**", [(-20, 120)]),
            ("<20", [(-20, 19)]),
            ("< 20.5", [(-20, 20)]),
            ("<= 20", [(-20, 20)]),
            ("\u226420.5", [(-20, 20)]),
            (">64", [(65, 120)]),
            (">64.5", [(65, 120)]),
            (">=64.5", [(65, 120)]),
            ("=> 65", [(65, 120)]),
            ("65+", [(65, 120)]),
            ("64.5+", [(65, 120)]),
            ("65 and over", [(65, 120)]),
            ("65 ans et plus", [(65, 120)]),
            ("Over 64", [(65, 120)]),
            ("less than 20", [(-20, 19)]),
            ("up to 20", [(-20, 20)]),
            ("over the hill", None),
            ("*", [(-20, 120)]),
            ("", [(-20, 120)]),
            ("NA", [(-20, 120)]),
            ("{21, 25, 22}", [(21, 22), (25, 25)]),
            ("1,000", None),
            ("21,115", [(21, 21), (115, 115)]),
            ("21, 115", [(21, 21), (115, 115)]),
            ("{21,115}", [(21, 21), (115, 115)]),
            ("20 %", None),
            ("20%-30%", None),
            (">=20 and <30", None),
            ("20-<30", None),
            ("21, 25, 22", [(21, 22), (25, 25)]),
            ("21;25", [(21, 21), (25, 25)]),
            ("['21', '22']", [(21, 22)]),
            ("frozenset({21, 25})", [(21, 21), (25, 25)]),
            ("[-inf, 20]", [(-20, 20)]),
            ("(-inf, 20.5]", [(-20, 20)]),
            ("(20, \u221e)", [(21, 120)]),
            ("\u00b2*", None),
            ("adults", None),
            ("21-", None),
            ("1-2-3", None),
            ("[1,2,3]", None),
            ("{}", None),
            ("43.33", NoSuchValue),
            ("-0.5", NoSuchValue),
            ("20.2-20.8", NoSuchValue),
            ("{21, 22.5}", NoSuchValue),
        ],
    ),
    "whole numbers with a decimal comma": (
        AGE,
        COMMA,
        [
            ("20,5-30,5", [(21, 30)]),
            ("(20,5, 30,5]", [(21, 30)]),
            ("]20,5;30,5]", [(21, 30)]),
            (">=20,5", [(21, 120)]),
            ("[20,30]", [(20, 30)]),
            ("{20; 22}", [(20, 20), (22, 22)]),
            ("[1,2,3]", None),
            ("20.5-30.5", None),
            ("20,5", NoSuchValue),
        ],
    ),
    "whole numbers with a word that the truth is read with": (
        AGE,
        Written(bounds={"90+": 90}),
        [("90+", [(90, 90)]), ("89+", [(89, 120)]), ("85-90+", [(85, 90)])],
    ),
    "numbers with decimals": (
        WEIGHT,
        None,
        [
            ("50.5", [(50.5, 50.5)]),
            ("[50.5, 60.25]", [(50.5, 60.25)]),
            ("-5--3.5", [(-5, -3.5)]),
            ("1e2-2e2", [(100, 200)]),
            ("(1e+02,1.2e+02]", [(100.00000000000001, 120)]),
            ("{50.5, 60}", [(50.5, 50.5), (60, 60)]),
            (">=50.5", [(50.5, 300.0)]),
            ("50.5+", [(50.5, 300.0)]),
            ("2*", None),  # 20 to 29, or 29.99, or 2.0 with its point behind the star
            ("*", [(0.5, 300.0)]),
        ],
    ),
    "dates": (
        BORN,
        None,
        [
            ("2024-02-29", [days("2024-02-29", "2024-02-29")]),
            ("2024-02", [days("2024-02-01", "2024-02-29")]),
            ("2024", [year(2024)]),
            ("2024-02-29 00:00:00.000000", [days("2024-02-29", "2024-02-29")]),
            ("[2024-01-31 00:00:00, 2024-03-01T00:00)", [days("2024-01-31", "2024-02-29")]),
            ("2024-02-29 13:00:00", None),
            ("[2024-01-31, 2024-03-01)", [days("2024-01-31", "2024-02-29")]),
            ("(2024-01, 2024-03]", [days("2024-02-01", "2024-03-31")]),
            ("2020-2024", [days("2020-01-01", "2024-12-31")]),
            ("2020-01-2021-03", [days("2020-01-01", "2021-03-31")]),
            ("2024-01-01 - 2024-03-31", [days("2024-01-01", "2024-03-31")]),
            ("2024-01-01 to 2024-03-31", [days("2024-01-01", "2024-03-31")]),
            ("<1930", [days("1900-01-01", "1929-12-31")]),
            (">=2020-06", [days("2020-06-01", "2030-12-31")]),
            ("202*", [days("2020-01-01", "2029-12-31")]),
            ("*024", [year(n) for n in range(1024, 9025, 1000)]),
            ("2024-**", [year(2024)]),
            ("2024-0*", [days("2024-01-01", "2024-09-30")]),
            ("2024-*2", [days("2024-02-01", "2024-02-29"), days("2024-12-01", "2024-12-31")]),
            ("2024/02/**", [days("2024-02-01", "2024-02-29")]),
            ("2024-02-2*", [days("2024-02-20", "2024-02-29")]),
            ("2024******", [year(2024)]),
            ("{2020, 2022}", [year(2020), year(2022)]),
            ("20*", None),
            ("2024*", None),
            ("2024-3*", None),
            ("2024-02-3*", None),
            ("24-0*", None),
            ("*-01", None),
            ("2024-01-*", None),
            ("2024-13", None),
            ("31.01.2024", None),
        ],
    ),
    "dates of another format": (
        BORN,
        DAY_FIRST,
        [
            ("03.02.2024", [days("2024-02-03", "2024-02-03")]),
            ("3.2.2024", [days("2024-02-03", "2024-02-03")]),
            ("02.2024", [days("2024-02-01", "2024-02-29")]),
            ("2024", [year(2024)]),
            ("[01.01.1930, 01.01.1950[", [days("1930-01-01", "1949-12-31")]),
            ("01.01.1930-31.12.1949", [days("1930-01-01", "1949-12-31")]),
            ("**.02.2024", [days("2024-02-01", "2024-02-29")]),
            ("**.**.2024", [year(2024)]),
            ("2024-02-03", None),
        ],
    ),
    "labels": (
        TOWN,
        None,
        [
            ("12002", [(2, 2)]),
            ("12", [(0, 0), (2, 2)]),
            ("12***", [(0, 0), (2, 2)]),
            ("12*", [(0, 0), (2, 2)]),
            ("**002", [(2, 2)]),
            ("*2002", [(2, 2)]),
            ("1*00*", [(0, 0), (2, 2)]),
            ("*****", [(0, 2)]),
            ("*", [(0, 2)]),
            ("[47001, 12002]", [(1, 2)]),
            ("[12001, 12002]", None),  # a list of two, or 47001 between them
            ("(12001; 12002)", None),
            ("[12001 - 12002]", [(0, 2)]),
            ("12001 to 12002", [(0, 2)]),
            ("[12001, 12002)", [(0, 1)]),
            ("{12002, 12001}", [(0, 0), (2, 2)]),
            ("{12002}", [(2, 2)]),
            ("12002,12001", [(0, 0), (2, 2)]),
            ("['12002', '12001']", [(0, 0), (2, 2)]),
            ("{'12002'}", [(2, 2)]),
            ("12001-47001", [(0, 1)]),
            ("99***", None),
            ("120*", [(0, 0), (2, 2)]),
            ("120**1", None),
            ("Berlin", None),
        ],
    ),
    "codes that look like something else": (
        CODE,
        None,
        [
            ("A-1", [(0, 0)]),
            ("B, other", [(2, 2)]),
            ("C+", [(3, 3)]),
            ("NA", [(4, 4)]),
            ("{A-1, C+}", [(0, 0), (3, 3)]),
            ("A-1 to A-2", [(0, 1)]),
            ("A-*", [(0, 1)]),
            ("A", None),
        ],
    ),
    "thousands": (
        ZIP,
        Written(thousands=","),
        [
            ("25,000", [(25000, 25000)]),
            ("25,000-30,000", [(25000, 30000)]),
            ("25,000;30,000", [(25000, 25000), (30000, 30000)]),
            ("[25,000; 30,000)", [(25000, 29999)]),
            (">=25,000.5", [(25001, 99999)]),
            ("{25,000; 27,000}", [(25000, 25000), (27000, 27000)]),
        ],
    ),
    "codes of digits": (
        ZIP,
        None,
        [
            ("250**", [(25000, 25099)]),
            ("25*01", [(25001 + 100 * n,) * 2 for n in range(10)]),
            ("****1", [(n, n) for n in range(10001, 100000, 10)]),
        ],
    ),
}
TABLE = [
    pytest.param(qi, written, text, covered, id=f"{domain}: {text}")
    for domain, (qi, written, rows) in SPELLINGS.items()
    for text, covered in rows
]


@pytest.mark.parametrize(("qi", "written", "text", "covered"), TABLE)
def test_what_a_cell_covers(qi, written, text, covered):
    read = cell_reader(qi, PATHS if qi is TOWN else None, ANYTHING, written)
    if covered is NoSuchValue:
        with pytest.raises(NoSuchValue):
            read(text)
        return
    assert read(text) == (None if covered is None else tuple(covered))


def test_an_open_end_of_decimals_leaves_the_end_itself_out():
    ((low, high),) = cell_reader(WEIGHT)("(50.5, 60.5)")
    assert 50.5 < low < 50.500001
    assert 60.499999 < high < 60.5


def test_labels_of_numbers_by_a_hierarchy_of_their_own():
    paths = [[str(age), "even" if age % 2 == 0 else "odd", "anybody"] for age in range(4)]
    read = cell_reader(AGE, paths)
    assert (read("even"), read("odd"), read("anybody")) == (((0, 0), (2, 2)), ((1, 1), (3, 3)), ((0, 3),))


whole = st.integers(-20, 120)


def ways_of_whole_numbers(low, high):
    """Spellings that an honest tool might have for all whole numbers from one to another."""
    between = ("-", " - ", "..", " to ", ":", "\u2013")
    ways = [f"{low}{sign}{high}" for sign in between]
    ways += [f"{low - 0.5}{sign}{high + 0.5}" for sign in between]
    ways += [f"{low - 0.25}{sign}{high}.0" for sign in between]
    for first, begin in (("[", low), ("(", low - 1), ("]", low - 1), ("[", low - 0.5), ("(", low - 0.5)):
        for last, end in (
            ("]", high),
            (")", high + 1),
            ("[", high + 1),
            ("]", high + 0.5),
            (")", high + 0.5),
        ):
            ways += [f"{first}{begin}{sign}{end}{last}" for sign in (",", ", ", ";", "..", " to ")]
    ways.append("{" + ", ".join(map(str, range(low, high + 1))) + "}")
    if low < high:
        ways.append(",".join(map(str, reversed(range(low, high + 1)))))
    if high == 120:
        ways += [f">={low}", f">{low - 1}", f"{low}+", f">={low - 0.5}", f"{low - 0.5}+", f"[{low}, inf)"]
    if low == -20:
        ways += [f"<={high}", f"<{high + 1}", f"<= {high + 0.5}", f"(-inf, {high}]"]
    return ways


@given(st.tuples(whole, whole).map(sorted), st.booleans(), st.booleans())
def test_a_cell_written_in_any_two_ways_covers_the_same_values(ends, is_lowest, is_highest):
    low, high = -20 if is_lowest else ends[0], 120 if is_highest else ends[1]
    read = cell_reader(AGE)
    assert {way: read(way) for way in ways_of_whole_numbers(low, high)} == dict.fromkeys(
        ways_of_whole_numbers(low, high), ((low, high),)
    )
    begin, end = (end_reader(AGE, read, None, at) for at in (0, 1))
    for first in (f"{low}", f"{low - 0.5}", f"{low}.0"):
        assert begin(first)[0][0] == low
    for last in (f"{high}", f"{high + 0.5}", f"{high}.0"):
        assert end(last)[-1][1] == high


@given(st.tuples(st.dates(dt.date(1900, 1, 1), dt.date(2030, 12, 31)), st.integers(0, 5000)))
def test_dates_written_in_any_two_ways_are_the_same_days(span):
    first, last = span[0], min(span[0] + dt.timedelta(span[1]), dt.date(2030, 12, 31))
    before, after = first - dt.timedelta(1), last + dt.timedelta(1)
    for form, reader in (("%Y-%m-%d", cell_reader(BORN)), ("%d.%m.%Y", cell_reader(BORN, written=DAY_FIRST))):
        ends, outside = ([day.strftime(form) for day in days] for days in ((first, last), (before, after)))
        for way in (
            f"{ends[0]} - {ends[1]}",
            f"{ends[0]} to {ends[1]}",
            f"[{ends[0]}, {ends[1]}]",
            f"({outside[0]}, {outside[1]})",
            f"]{outside[0]};{outside[1]}[",
        ):
            assert reader(way) == (days(first.isoformat(), last.isoformat()),)


@given(st.sets(st.sampled_from(TOWN.labels), min_size=1))
def test_labels_written_in_any_two_ways_are_the_same_labels(labels):
    read, covered = cell_reader(TOWN), set()
    ways = ["{" + ", ".join(labels) + "}", str(labels), str(list(labels)), f"frozenset({labels})"]
    ways += [",".join(labels), ";".join(labels)] if len(labels) > 1 else [*labels]
    covered = {read(way) for way in ways}
    assert covered == {read(ways[0])}
    (cell,) = covered
    assert {TOWN.labels[n] for low, high in cell for n in range(int(low), int(high) + 1)} == labels


amount = st.integers(1_000, 900_000)


@given(st.tuples(amount, amount).map(sorted))
def test_thousands_written_in_any_two_ways_are_the_same_numbers(ends):
    low, high = ends
    for thousands, decimal in ((",", "."), (".", ","), (" ", ","), ("'", ".")):
        read = cell_reader(COST, written=Written(thousands=thousands, decimal=decimal))
        first, last = (f"{end:,}".replace(",", thousands) for end in (low, high))
        half = f"{first}{decimal}5"
        ways = [f"{first}{sign}{last}" for sign in ("-", " - ", " to ", "..", "\u2013", "\u2212")]
        ways += [f"[{first}; {last}]", f"{low}-{high}", f"[{first}; {last}{decimal}5)"]
        assert {way: read(way) for way in ways} == dict.fromkeys(ways, ((low, high),))
        assert read(f">={half}") == ((low + 1, 1_000_000),)
