"""Labels and values may be any text: counts are those of ordinary ones."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from republish.anonymize.columns import VALUE
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.formats.generalization import generalize
from republish.anonymize.principles import parse_contract
from republish.anonymize.spelling import value_form
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.readers.datapackage.package import data_package
from republish.orchestration.readers.estimate.opened import prepared
from republish.orchestration.readers.estimate.statements import estimate_sql, text

DATE = "2024-01-01"
LABELS = (
    *("{{x}}", "{x}", "{", "}", "{}", "{0}", "{{", "{% x %}", "{# x", "$x", "%s", "a'b", 'a"b', "''", '"'),
    *("all", "ALL", "null", "NULL", "NaN", "true", "0", "-1", " ", "a ", " a", "\\", "\\n", "\n", "\t", "\r"),
    *("a\x1fb", "\x1f", "é", "e\u0301", "\u200b", "\u202e", "名", "a;b", "--", "/*", "*/", "1:a", "a, b"),
    "release",
)


def counted(labels, folder, groups=30):
    """Counts of people in groups of three, who have different values, by label and by value."""
    labels = list(labels)
    contract = parse_contract(
        {
            "product": "simulated",
            "series": "v1",
            "source": {"path": "{release}.csv"},
            "releases": {"first": DATE},
            "identifier": "id",
            "quasi_identifiers": [{"name": "label", "kind": "category", "order": labels}],
            "sensitive": {"name": "value", "values": labels[:6]},
            "principle": {"name": "m_invariance", "m": 2},
        }
    )
    people = 3 * groups
    codes = pl.DataFrame({"qi_0": np.sort(np.arange(people) * 7 % len(labels))})
    values = pl.Series(VALUE, [labels[(row + row // 9) % 6] for row in range(people)])
    tables = generalize(
        codes, values, np.repeat(np.arange(groups), 3), np.zeros(people, bool), contract
    ).tables
    for name, table in tables.items():
        dated(table, DATE).write_parquet(folder / f"{name}.parquet")
    stated = {"product": "simulated", "series": "v1", "release": DATE, "n": 1}
    stated["principle"] = contract.principle.model_dump(mode="json")
    package = data_package(contract, GENERALIZATION, stated, {"value": "String"})
    some = [text(label) for label in labels[:6]]
    asked = (
        f"label IN ({some[1]}, {some[3]})",
        f"value = {some[2]}",
        f"label <> {some[5]} AND value IN ({some[4]}, {some[0]})",
    )
    with prepared(folder, estimate_sql(package)) as connection:
        found = [connection.sql(f"FROM estimate({one})").fetchall() for one in ("true", *asked)]
        by_value = connection.sql("FROM estimate(true, split := value)").fetchall()
    return found, {split: rest for _, split, *rest in by_value}


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    return cache(lambda: counted("abcdef", tmp_path_factory.mktemp("ordinary")))


def six_from(at):
    """Six labels from one on that are not one value in two spellings: a contract may not list these."""
    labels = pl.DataFrame({"label": (*LABELS[at:], *LABELS[:at])})
    distinct = labels.unique(value_form(pl.col("label")), keep="first", maintain_order=True)
    return distinct["label"].to_list()[:6]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("at", range(0, len(LABELS), 6))  # each label is asked for, in one of the conditions
def test_any_labels_are_counted_as_ordinary_ones(at, ordinary, tmp_path):
    labels = six_from(at)
    usual, by_value = ordinary()
    found, by_label = counted(labels, tmp_path)
    assert found[0][0][2] == 90
    assert [row[0][2:6] for row in found] == [row[0][2:6] for row in usual]
    assert by_label == {label: by_value[letter] for letter, label in zip("abcdef", labels, strict=True)}


@pytest.mark.slow("has a large table")
def test_a_category_of_200_000_labels(tmp_path):
    found, by_label = counted([f"L{n:06}" for n in range(200_000)], tmp_path)
    assert found[0][0][2] == 90
    assert sum(people for people, *_ in by_label.values()) == pytest.approx(90)
