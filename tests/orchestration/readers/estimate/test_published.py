"""A published release in codes: small tables worked by hand, in both formats, and what no release has."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from republish.anonymize.errors import LimitError, PublishedFolderError, QueryError
from republish.orchestration.readers.estimate.attributes import Attribute
from republish.orchestration.readers.estimate.copies import copies_of
from republish.orchestration.readers.estimate.published import read_published, refuse_other_figures

DATE = dt.date(2024, 1, 1)
AGE = {"name": "age", "kind": "number", "domain": [18, 80]}
DAY = {"name": "day", "kind": "date", "domain": ["2023-01-01", "2023-12-31"], "missing": "publish"}
SEX = {"name": "sex", "kind": "category", "labels": ["M", "F", "(x)"], "missing": "publish"}
PAY = {"name": "pay", "kind": "number", "domain": [0.0, 50.0]}
FLU, GOUT, REST = "flu", "gout", "rest"
STATED = {"release": str(DATE), "groups": 3, "tuples": 6, "counterfeits": 2}


def package(attributes, sensitive=("disease",), format="generalization", **own):  # noqa: A002 - its key
    columns = [{"name": name} for name in sensitive]
    return {
        "republish": {
            "product": "p",
            "series": "v1",
            "release": str(DATE),
            "n": 2,
            "format": format,
            "principle": {"name": "m_invariance", "m": 2},
            "attributes": attributes,
            "sensitive": columns if len(columns) > 1 else columns[0],
            **own,
        }
    }


def write(folder, **tables):
    for name, columns in tables.items():
        table = pl.DataFrame(columns)
        table.insert_column(0, pl.repeat(DATE, table.height, dtype=pl.Date, eager=True).alias("release"))
        table.write_parquet(folder / f"{name}.parquet")


INTERVALS = {
    "microdata": {
        "group": [1, 1, 1, 2, 2, 3],
        "a": [20, 20, 20, 18, 18, 80],
        "b": [39, 39, 39, 80, 80, 80],
        "c": pl.Series([dt.date(2023, 1, 2)] * 3 + [None] * 2 + [dt.date(2023, 12, 31)], dtype=pl.Date),
        "d": pl.Series([dt.date(2023, 3, 1)] * 3 + [None] * 2 + [dt.date(2023, 12, 31)], dtype=pl.Date),
        "e": [1, 1, 1, 1, 1, 0],
        "f": ["M"] * 3 + ["(missing)"] * 2 + ["(x)"],
        "g": ["F"] * 3 + ["(missing)"] * 2 + ["(x)"],
        "h": [0, 0, 0, 1, 1, 0],
        "i": [0.0, 0.0, 0.0, 12.5, 12.5, 50.0],
        "j": [29.03, 29.03, 29.03, 49.99999, 49.99999, 50.0],
        "k": [REST, FLU, FLU, GOUT, FLU, GOUT],
    },
    "counterfeits": {"group": [2, 1], "b": [1, 1]},
}
ATTRIBUTES = [AGE, DAY, SEX, PAY]
ROWS = {
    "quasi_identifiers": {
        "group": [2, 1, 1, 2, 1, 3],
        "a": [70, 19, 20, 18, 20, 80],
        "c": pl.Series([None] + [dt.date(2023, 1, 2)] * 4 + [None], dtype=pl.Date),
        "f": ["M", "F", "(x)", "(missing)", "F", "F"],
        "i": [0.5, 0.25, 0.5, 0.75, 0.0, 1.0],
    },
    "sensitive": {
        "group": [1, 1, 2, 2, 3],
        "k": [REST, FLU, GOUT, FLU, GOUT],
        "count": [1, 2, 1, 1, 1],
    },
    "counterfeits": {"group": [2, 1], "b": [1, 1]},
}


def test_intervals_are_read_by_the_places_of_columns(tmp_path):
    write(tmp_path, **INTERVALS)
    found = read_published(tmp_path, package(ATTRIBUTES))
    refuse_other_figures(tmp_path, found, STATED)
    groups, (age, day, sex, pay) = found.groups, found.groups.intervals
    assert groups.people.tolist() == [2, 1, 1]
    assert groups.size.tolist() == [3, 2, 1]
    assert found.values["disease"].to_list() == [FLU, GOUT, REST]
    entries = zip(groups.group, groups.value, groups.tuples, strict=True)
    assert sorted(entries) == [(0, 0, 2), (0, 2, 1), (1, 0, 1), (1, 1, 1), (2, 1, 1)]
    assert (groups.kind >= 0).tolist() == [True] * 4 + [False]
    assert groups.is_ordered == (True, True, False, True)
    assert (age.low.tolist(), age.high.tolist()) == ([2, 0, 62], [21, 62, 62])
    assert age.lacking.tolist() == [0, 0, 0]
    assert (day.low[[0, 2]].tolist(), day.high[[0, 2]].tolist()) == ([1, 364], [59, 364])
    assert (day.lacking.tolist(), sex.lacking.tolist()) == ([1, 1, 0], [0, 1, 0])
    assert (sex.low[[0, 2]].tolist(), sex.high[[0, 2]].tolist()) == ([0, 2], [1, 2])
    assert (pay.low.tolist(), pay.high.tolist()) == ([0, 250_000, 1_000_000], [580_600, 999_999, 1_000_000])
    ages, days, labels, pays = (
        decoded(codes).to_list()
        for decoded, codes in zip(
            found.decoders,
            (age.high, np.array([-1, 59]), np.array([0, 2, -1]), np.array([999_999, 580_600, 2])),
            strict=True,
        )
    )
    assert ages == [39, 80, 80]
    assert days == [None, dt.date(2023, 3, 1)]
    assert labels == ["M", "(x)", "(missing)"]
    assert pays == [49.99999, 29.03, 0.0001]  # ends are known exactly; a code is 0.00005 wide


def test_rows_are_numbered_in_the_order_of_their_values(tmp_path):
    write(tmp_path, **ROWS)
    found = read_published(tmp_path, package(ATTRIBUTES, format="anatomy"))
    refuse_other_figures(tmp_path, found, STATED)
    groups = found.groups
    assert groups.people.tolist() == [2, 1, 1]
    assert groups.group_of_row.tolist() == [0, 0, 0, 1, 1, 2]
    decoded = [one(codes).to_list() for one, codes in zip(found.decoders, groups.rows.T, strict=True)]
    assert decoded == [
        [19, 20, 20, 70, 18, 80],
        [dt.date(2023, 1, 2)] * 3 + [None, dt.date(2023, 1, 2), None],
        ["F", "(x)", "F", "M", "(missing)", "F"],
        [0.25, 0.5, 0.0, 0.5, 0.75, 1.0],
    ]
    assert groups.rows[:, 0].tolist() == [1, 2, 2, 3, 0, 4]
    assert groups.rows[:, 1].tolist() == [0, 0, 0, -1, 0, -1]


@pytest.mark.parametrize(("tables", "form"), [(INTERVALS, "generalization"), (ROWS, "anatomy")])
def test_nobody_is_in_a_group_of_counterfeits_alone(tables, form, tmp_path):
    write(tmp_path, **forged([1, 3], [1, 1])(tables))
    found = read_published(tmp_path, package(ATTRIBUTES, format=form))
    assert found.counts == (3, 6, 2)
    assert found.groups.people.tolist() == [2, 2]
    assert set(found.groups.group) == {0, 1}
    (copy,) = copies_of(found, 1, seed=1)
    assert copy.height == 4


@pytest.mark.parametrize(("tables", "form"), [(INTERVALS, "generalization"), (ROWS, "anatomy")])
def test_tables_in_parts_are_those_tables(tables, form, tmp_path):
    write(tmp_path, **tables)
    whole = read_published(tmp_path, package(ATTRIBUTES, format=form))
    for name in tables:
        table = pl.read_parquet(tmp_path / f"{name}.parquet")
        (tmp_path / f"{name}.parquet").unlink()
        (tmp_path / name).mkdir()
        table[:1].write_parquet(tmp_path / name / "part-0000.parquet")
        table[1:].write_parquet(tmp_path / name / "part-0001.parquet")
    found = read_published(tmp_path, package(ATTRIBUTES, format=form))
    assert found.counts == whole.counts
    copies = [pl.concat(copies_of(one, 3, seed=1)) for one in (whole, found)]
    assert copies[0].equals(copies[1])
    assert copies[0].columns == ["copy", "release", "age", "day", "sex", "pay", "disease"]


@pytest.mark.parametrize("names", [("value", "tuples"), ("Value", "group_id"), ("*", "^b.*$"), ("a", "A")])
def test_values_of_several_columns_go_together_whatever_these_are_called(names, tmp_path):
    pairs = [("flu", 3), ("gout", 1), ("gout", 2), ("flu", 2), ("gout", 3), ("rest", 1)]
    tuples = {"group": [1, 1, 1, 2, 2, 2], "low": [20] * 6, "high": [30] * 6}
    both = {name: list(column) for name, column in zip("kl", zip(*pairs, strict=True), strict=True)}
    none = {"group": pl.Series([], dtype=pl.Int64), "count": pl.Series([], dtype=pl.Int64)}
    write(tmp_path, microdata=tuples | both, counterfeits=none)
    found = read_published(tmp_path, package([AGE], names))
    values = found.values.rows()
    assert values == sorted(pairs)
    entries = zip(found.groups.group.tolist(), found.groups.value.tolist(), strict=True)
    assert sorted((group, values[value]) for group, value in entries) == sorted(
        (at // 3, pair) for at, pair in enumerate(pairs)
    )
    (copy,) = copies_of(found, 1, seed=1)
    assert sorted(row[3:] for row in copy.rows()) == sorted(pairs)


@pytest.mark.parametrize(
    "labels", [['{{x}}"', "$1", "%s", "null"], ["", "a ", " a", "\n"], ["é", "e\u0301", "名", "(missing"]]
)
def test_labels_and_values_may_be_any_text(labels, tmp_path):
    tuples = {"group": [1, 1, 2, 2], "low": [labels[1]] * 4, "high": [labels[3]] * 4}
    none = {"group": pl.Series([], dtype=pl.Int64), "count": pl.Series([], dtype=pl.Int64)}
    write(tmp_path, microdata=tuples | {"value": [*labels[:3], labels[0]]}, counterfeits=none)
    found = read_published(tmp_path, package([{"name": "x", "kind": "category", "labels": labels}]))
    assert found.groups.intervals[0].low.tolist() == [1, 1]
    assert found.groups.intervals[0].high.tolist() == [3, 3]
    assert found.decoders[0](np.array([3, 0])).to_list() == [labels[3], labels[0]]
    assert found.values["disease"].to_list() == sorted(labels[:3], key=str.encode)


def changed(table, **entries):
    """Another entry in the first row of a table."""
    return lambda tables: (
        tables
        | {
            table: {
                name: pl.Series(
                    [entries[name], *list(column)[1:]], dtype=pl.Series(column).dtype, strict=False
                )
                if name in entries
                else column
                for name, column in tables[table].items()
            }
        }
    )


def forged(group, count):
    """Other counterfeits."""
    return lambda tables: tables | {"counterfeits": {"group": group, "b": pl.Series(count, dtype=pl.Int64)}}


OF_BOTH = {
    "more counterfeits than tuples": forged([1], [4]),
    "negative counterfeits": forged([1], [-1]),
    "no counterfeits": forged([1], [0]),
    "2^62 counterfeits": forged([1], [2**62]),
    "counterfeits of no group": forged([9], [1]),
    "counterfeits twice": forged([1, 1], [1, 1]),
    "counterfeits of nobody knows what": forged([1], [None]),
    "counterfeits as text": lambda tables: tables | {"counterfeits": {"group": [1], "b": ["1"]}},
}
OF_INTERVALS = {
    "an interval reversed": changed("microdata", a=40),
    "an interval below the domain": changed("microdata", a=-5),
    "an interval far below the domain": changed("microdata", a=-(2**63)),
    "an interval above the domain": changed("microdata", b=81),
    "an interval that is missing": changed("microdata", a=None),
    "half of an interval": changed("microdata", c=None),
    "nobody who lacks what is missing": changed("microdata", c=None, d=None, e=0),
    "fewer than nobody": changed("microdata", e=-1),
    "nobody knows how many lack it": changed("microdata", e=None),
    "a label of no column": changed("microdata", f="X"),
    "a fraction that is no number": changed("microdata", i=float("nan")),
    "a fraction without end": changed("microdata", j=float("inf")),
    "a value that is missing": changed("microdata", k=None),
    "a group that is missing": changed("microdata", group=None),
    "a group of several intervals": changed("microdata", b=41),
    "text for numbers": lambda tables: changed("microdata")(
        tables | {"microdata": tables["microdata"] | {"a": ["20"] * 6}}
    ),
    "a column too many": lambda tables: tables | {"microdata": tables["microdata"] | {"z": [1] * 6}},
    "a column too few": lambda tables: (
        tables | {"microdata": {name: column for name, column in tables["microdata"].items() if name != "h"}}
    ),
}
OF_ROWS = {
    "no tuple of a value": changed("sensitive", count=0),
    "another count": changed("sensitive", count=2),
    "a value that is missing": changed("sensitive", k=None),
    "a value twice": changed("sensitive", k=FLU),
    "a group without rows": changed("sensitive", group=9),
    "rows of another group": changed("quasi_identifiers", group=3),
    "rows of no group": changed("quasi_identifiers", group=None),
    "numbers for labels": lambda tables: (
        tables | {"quasi_identifiers": tables["quasi_identifiers"] | {"f": [1] * 6}}
    ),
}


@pytest.mark.parametrize(
    ("form", "what"),
    [
        *(("generalization", what) for what in {**OF_BOTH, **OF_INTERVALS}),
        *(("anatomy", what) for what in {**OF_BOTH, **OF_ROWS}),
    ],
)
def test_no_copy_is_drawn_of_what_no_release_has(form, what, tmp_path):
    is_exact = form == "anatomy"
    tamper = {**OF_BOTH, **(OF_ROWS if is_exact else OF_INTERVALS)}[what]
    write(tmp_path, **tamper(ROWS if is_exact else INTERVALS))
    with pytest.raises(PublishedFolderError, match="its tables are not what datapackage") as refused:
        read_published(tmp_path, package(ATTRIBUTES, format=form))
    assert str(refused.value).isprintable()


def test_tables_of_another_release_are_refused(tmp_path):
    write(tmp_path, **INTERVALS)
    found = read_published(tmp_path, package(ATTRIBUTES))
    for name, other in (("groups", 4), ("tuples", 5), ("counterfeits", 0), ("release", "2024-02-01")):
        with pytest.raises(PublishedFolderError, match="than its manifest states"):
            refuse_other_figures(tmp_path, found, STATED | {name: other})
    with pytest.raises(PublishedFolderError, match="or are of another release"):
        read_published(tmp_path, package(ATTRIBUTES, release="2024-02-01"))


@pytest.mark.parametrize("table", ["microdata", "counterfeits"])
def test_a_table_that_is_missing_or_is_none_is_refused(table, tmp_path):
    write(tmp_path, **INTERVALS)
    (tmp_path / f"{table}.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(PublishedFolderError, match="its tables are not what"):
        read_published(tmp_path, package(ATTRIBUTES))
    (tmp_path / f"{table}.parquet").unlink()
    with pytest.raises(PublishedFolderError, match="is missing"):
        read_published(tmp_path, package(ATTRIBUTES))


@pytest.mark.parametrize(
    "other",
    [
        *({"domain": one} for one in ([0, 10**400], [0.0, 10**400], [0, "x"], [], [None, None], {}, [5, 4])),
        *({"min_width": width} for width in (0, -1, "5", float("nan"), float("inf"))),
        *({"kind": "category", "labels": labels} for labels in ([], ["a", "a"], [1], "ab", None)),
        {"kind": "date", "domain": ["2023-01-01", "2022-01-01"]},
        {"step": "x"},
    ],
)
def test_what_no_package_says_of_a_column_is_refused(other, tmp_path):
    write(tmp_path, **INTERVALS)
    with pytest.raises(PublishedFolderError, match="is not a package of republish's"):
        read_published(tmp_path, package([AGE | other, DAY, SEX, PAY]))


@pytest.mark.parametrize(
    "other", [{"format": "csv"}, {"release": "today"}, {"sensitive": None}, {"attributes": 3}]
)
def test_what_no_package_says_of_a_release_is_refused(other, tmp_path):
    with pytest.raises(PublishedFolderError, match="is not a package of republish's"):
        read_published(tmp_path, {"republish": package([AGE])["republish"] | other})


def test_a_package_of_too_many_columns_or_labels_is_refused(tmp_path):
    with pytest.raises(LimitError, match="columns"):
        read_published(tmp_path, package([AGE] * 501))
    many = {"name": "x", "kind": "category", "labels": [str(one) for one in range(200_001)]}
    with pytest.raises(LimitError, match="labels"):
        read_published(tmp_path, package([many]))


def test_nothing_has_to_be_drawn_of_a_view(tmp_path):
    with pytest.raises(PublishedFolderError, match=r"has no view\.parquet"):
        read_published(tmp_path, package([AGE], format="taxonomy_cuts"))
    write(tmp_path, view={"a": [1]})
    with pytest.raises(QueryError, match="is a view, whose rows are people"):
        read_published(tmp_path, package([AGE], format="taxonomy_cuts"))


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        ({"kind": "number", "domain": [-5, 9]}, [-5, 0, 9]),
        ({"kind": "number", "domain": [0, 2**53 - 1]}, [0, 2**53 - 1]),
        ({"kind": "number", "domain": [0, 1000], "step": 50}, [0, 50, 1000]),
        ({"kind": "number", "domain": [0.0, 1.0]}, [0.0, 0.5, 1.0]),
        ({"kind": "number", "domain": [-3, 7.5]}, [-3.0, 7.5]),
        ({"kind": "number", "domain": [2.5, 2.5]}, [2.5]),
        ({"kind": "number", "domain": [0.0, 1e9]}, [0.0, 5e8, 1e9]),
        (
            {"kind": "date", "domain": ["1900-01-01", "2024-02-29"]},
            [dt.date(1900, 1, 1), dt.date(2024, 2, 29)],
        ),
        ({"kind": "category", "labels": ["b", "a"]}, ["a", "b"]),
    ],
)
def test_codes_stand_for_the_values_that_they_are_made_of(declared, values):
    attribute = Attribute.of({"name": "x", **declared})
    codes = attribute.codes(pl.Series(values))
    assert codes.is_between(0, attribute.domain.codes - 1).all()
    assert attribute.values(codes.to_numpy()).to_list() == values


def test_codes_between_the_multiples_of_a_step_are_the_multiple_below():
    attribute = Attribute.of({"name": "x", "kind": "number", "domain": [100, 1000], "step": 50})
    assert attribute.values(np.array([0, 49, 50, 120, -1])).to_list() == [100, 100, 150, 200, None]


def test_a_fraction_on_a_line_between_two_codes_is_the_upper_one():
    """A quotient that was rounded down would be the code below: 0.29 / 0.0001 is 2900."""
    attribute = Attribute.of({"name": "x", "kind": "number", "domain": [0.0, 100.0]})
    values = pl.Series([one / 1000 for one in range(0, 100_000, 7)])
    assert attribute.codes(values).to_list() == [int(one / 0.0001) for one in values]
