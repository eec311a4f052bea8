"""A column that goes with a sensitive one gives it away, or some of it: this is said, and never by chance."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.principles import parse_contract
from republish.orchestration.drafts.columns import Column
from republish.orchestration.drafts.roles import roles_of
from republish.orchestration.snapshots.determined import advice_on_determined, determines

ROWS = 120
CHAPTERS = {"flu": "J", "asthma": "J", "gout": "M", "burn": "T", "ulcer": "K"}
ILL = pl.Series("value", [[*CHAPTERS][at % 5] for at in range(ROWS)])


def contract(**sensitive):
    return parse_contract({
        "product": "members",
        "series": "v1",
        "releases": {"first": "2024-01-01"},
        "source": {"path": "{release}.parquet"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 120]},
            {"name": "chapter", "kind": "category", "order": ["J", "K", "M", "T"]},
        ],
        "sensitive": {"name": "illness", "values": [*CHAPTERS, "none"], **sensitive},
        "principle": {"name": "m_invariance", "m": 2},
    })  # fmt: skip


def advice(values, chapter, **sensitive):
    people = {"qi_0": [20 + at % 60 for at in range(ROWS)], "qi_1": chapter, "value": values}
    return list(advice_on_determined(pl.DataFrame(people), contract(**sensitive)))


def chapter_of(values):
    return values.replace_strict(CHAPTERS, default="J", return_dtype=pl.String)


def test_a_chapter_of_each_diagnosis_rules_out_others():
    (said,) = advice(ILL, chapter_of(ILL))
    assert said.startswith(
        "each value of illness has one value of chapter: whoever knows chapter of a person"
    )


def test_a_column_that_says_the_sensitive_value_is_asked_about():
    letters = chapter_of(ILL).set(ILL == "asthma", "T").set(ILL == "burn", "J")
    values = letters.replace_strict({"J": "flu", "M": "gout", "T": "burn", "K": "flu"})
    (said,) = advice(values, letters)
    assert said.startswith("chapter says what illness is, of everybody")


def test_a_quasi_identifier_that_follows_from_another_is_advised_against():
    ages = pl.Series([20 + at % 5 for at in range(ROWS)])
    chapter = (ages // 2).replace_strict({10: "J", 11: "K", 12: "M"}, return_dtype=pl.String)
    chance = np.random.default_rng(1)
    ill = pl.Series("value", chance.choice([*CHAPTERS], ROWS))
    people = pl.DataFrame({"qi_0": ages, "qi_1": chapter, "value": ill})
    (said,) = advice_on_determined(people, contract())
    assert said.startswith("chapter follows from age: groups do not show it")
    assert not [*advice_on_determined(people.with_columns(qi_1=chapter.shuffle(seed=1)), contract())]


def test_values_that_may_be_known_are_no_exception_to_it():
    with_none = ILL.set(pl.Series([at % 3 == 0 for at in range(ROWS)]), "none")
    chapters = chapter_of(with_none).set(pl.Series([at % 6 == 0 for at in range(ROWS)]), "K")
    assert advice(with_none, chapters) == []
    (said,) = advice(with_none, chapters, not_sensitive=["none"])
    assert "rules out" in said


@pytest.mark.parametrize("seed", range(20))
def test_columns_that_have_nothing_to_do_with_each_other_are_let_be(seed):
    chance = np.random.default_rng(seed)
    rare = pl.Series(chance.choice(["J", "K"], ROWS, p=[0.96, 0.04]))
    skewed = pl.Series(chance.choice([*CHAPTERS], ROWS, p=[0.8, 0.1, 0.06, 0.02, 0.02]))
    assert advice(skewed, rare) == []
    own = pl.Series([f"{at}" for at in range(ROWS)])
    assert not determines(own, skewed)  # each has another value
    one = chapter_of(ILL).set(pl.Series([at == 5 for at in range(ROWS)]), "M")
    assert not determines(ILL, one)


def test_a_draft_leaves_such_columns_out():
    person = Column("person", "category", pl.Series([f"P{at}" for at in range(ROWS)]), ROWS)
    age = Column("age", "number", pl.Series([20 + at % 60 for at in range(ROWS)]), ROWS)
    chapter, illness = (
        Column("part", "category", chapter_of(ILL), ROWS),
        Column("value", "category", ILL, ROWS),
    )
    roles = roles_of([person, age, chapter, illness], [person], illness, ["person"])
    assert [one.name for one in roles.quasi_identifiers] == ["age"]
    ((column, why),) = roles.left_out
    assert (column.name, why[:45]) == ("part", "each value of value has one of it, so that it")
