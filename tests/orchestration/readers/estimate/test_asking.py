"""A question to tables that are written down here: answers are those of DuckDB, which reads nothing else."""

import datetime as dt
from contextlib import contextmanager

import duckdb
import polars as pl
import pytest

from republish.anonymize.errors import QueryError
from republish.orchestration.readers.estimate import asking
from republish.orchestration.readers.estimate.asking import Asker, Question
from republish.orchestration.readers.estimate.expression import Expression

PEOPLE = pl.DataFrame(
    {
        "copy": [1] * 6,
        "release": [dt.date(2024, 1, 1)] * 6,
        "age": [20, 30, 40, 50, 60, None],
        "born": [dt.date(2004, 1, 1), *[dt.date(1994, 1, day) for day in (3, 5, 7, 9, 11)]],
        "sex": ["F", "M", "F", "M", "F", "F"],
        "cost": ["7", "90", "120", "1000", "(missing)", "7"],
        "code": ["07", "08", "08", "07", "07", "07"],
        "^c.*$": [True, False, True, False, True, False],
    }
)
LABELS = {"sex": ["F", "M"], "cost": ["(missing)", "1000", "120", "7", "90"], "code": ["07", "08"]}


@contextmanager
def asker(where="true", by=(), of="count(*)", labels=LABELS):
    options = (("--where", where), *(("--by", one) for one in by), ("--of", of))
    met, *parts, aggregate = (
        Expression.of(option, asked, PEOPLE.columns[1:], labels) for option, asked in options
    )
    with Asker.open(Question(met, parts, aggregate), labels) as one:
        yield one


def ask(*words, **named):
    with asker(*words, **named) as one:
        return sorted(one.ask(PEOPLE).rows(), key=str)


@pytest.mark.parametrize(
    ("where", "of", "answer"),
    [
        ("true", "count(*)", 6),
        ("age BETWEEN 30 AND 50 AND sex = 'M'", "count(*)", 2),
        ("age IS NULL", "count(*)", 1),
        ("true", "avg(age)", 40),
        ("sex = 'F'", "sum(age)", 120),
        ("true", "median(age)", 40),
        ("true", "quantile_cont(age, 0.9)", 56),
        ("true", "avg((sex = 'F')::int)", 4 / 6),
        ("true", "corr(age, year(born))", pytest.approx(-0.70710678)),
        ("true", "regr_slope(age, age)", 1),
        ("true", "count(*) FILTER (WHERE sex = 'F') / count(*)", 4 / 6),
        ("true", "bool_and(age > 3)", 1),
        ("true", "sum(age::hugeint)", 200),
        ("age = 20", "stddev_samp(age)", None),
        ('"^c.*$"', "count(*)", 3),
        ("born < '1994-01-08'", "count(*)", 3),
        ("true", "avg(cost)", pytest.approx(1224 / 5)),
        ("cost > 100", "count(*)", 2),
        ("cost IN (7, 90)", "count(*)", 3),
        ("cost IS NULL", "count(*)", 1),
        ("cost = '(missing)'", "count(*)", 1),
        ("cost LIKE '1%'", "count(*)", 2),
        ("substr(code, 2) = '7'", "count(*)", 4),
        ("code = '07'", "count(*)", 4),
        ("true", "count(DISTINCT sex)", 2),
        ("age < 50 -- all", "count(*) -- of them", 3),
    ],
)
def test_an_answer_is_that_of_sql(where, of, answer):
    assert ask(where, of=of) == [(answer,)]


def test_nobody_is_no_row():
    assert ask("age > 99") == ask("age > 99", of="avg(age)") == ask("age > 99", ["sex"]) == []


def test_people_are_counted_by_expressions():
    assert ask(by=["sex"]) == [("F", 4), ("M", 2)]
    assert ask(by=["age // 20", "sex"], of="min(age)") == [
        *((1, "F", 20), (1, "M", 30), (2, "F", 40), (2, "M", 50), (3, "F", 60), (None, "F", None))
    ]
    assert ask("age < 30", ["release", "born", "age / 2", "substr(sex, 1, 1)"]) == [
        (dt.date(2024, 1, 1), dt.date(2004, 1, 1), 10.0, "F", 1)
    ]
    assert ask("age < 30", ["date_trunc('month', born)", "[age]", "age::decimal(5, 1)", "age > 3"]) == [
        ("2004-01-01 00:00:00", "[20]", 20.0, True, 1)
    ]
    assert ask(by=["3"]) == [(3, 6)]
    assert ask("age > 30", ["cost"]) == [(1000, 1), (120, 1), (None, 1)]


def test_dates_are_answered_in_days():
    with asker(of="median(born)") as one:
        assert one.ask(PEOPLE).rows() == [((dt.date(1994, 1, 8) - dt.date(1970, 1, 1)).days,)]
        assert one.of_dates


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"where": "age"}, "--where age: is a bigint, and must be true or false of a person"),
        ({"where": "NULL"}, "and must be true or false of a person"),
        ({"where": "age = 'old'"}, "--where age = 'old': Conversion Error: Could not convert string 'old'"),
        ({"where": "sex > 3"}, "--where sex > 3: Binder Error: Cannot compare values of type VARCHAR and"),
        ({"where": "born > 3"}, "--where born > 3: Binder Error: Cannot compare values of type DATE and"),
        ({"where": "sum(age) > 3"}, "--where sum(age) > 3: Binder Error: "),
        ({"where": "getenv('HOME') = 'x'"}, "Scalar Function with name getenv does not exist"),
        ({"where": "age LIKE '3%'"}, "--where age LIKE '3%': Binder Error: No function matches"),
        ({"by": ["sum(age)"], "of": "count(*)"}, "--by sum(age)"),
        ({"by": ["year(sex)"]}, "--by year(sex): Binder Error: No function matches"),
        ({"by": ["sex::int"]}, "--by sex::int: Conversion Error: Could not convert string"),
        ({"of": "age"}, "--of age: is no aggregate of a group of people, as avg(age) is one"),
        ({"of": "3"}, "--of 3: is no aggregate"),
        ({"of": "sex", "by": ["sex"]}, "--of sex: is no aggregate"),
        (
            {"of": "avg(age) + age"},
            '--of avg(age) + age: Binder Error: column "age" must appear in the GROUP BY',
        ),
        ({"of": "mode(sex)"}, "--of mode(sex): is a varchar, and must be a number or a date"),
        ({"of": "avg(sex)"}, "--of avg(sex): Binder Error: No function matches"),
        ({"of": "list(age)"}, "--of list(age): is a list, and must be a number or a date"),
    ],
)
def test_what_duckdb_refuses_is_said_in_one_line_after_its_option(question, said):
    with pytest.raises(QueryError) as refused:
        ask(**question)
    assert said in str(refused.value)
    assert str(refused.value).startswith("--")
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2


def test_people_are_not_counted_by_too_many_values(monkeypatch):
    monkeypatch.setattr(asking, "MOST_PARTS", 4)
    assert len(ask(by=["age // 20"])) == 4
    with pytest.raises(QueryError, match="--by age --by sex: that is more than 4 lines a release"):
        ask(by=["age", "sex"])


def test_a_question_reaches_no_file_and_no_setting(tmp_path):
    with asker() as one:
        one.ask(PEOPLE)
        for words in (
            "FROM read_text('/etc/passwd')",
            f"COPY (SELECT 1) TO '{tmp_path / 'x'}'",
            f"ATTACH '{tmp_path / 'x.db'}'",
            "SET enable_external_access = true",
            "SET threads = 1",
            "INSTALL httpfs",
            "LOAD httpfs",
        ):
            with pytest.raises(duckdb.Error):
                one.connection.execute(words)


def test_only_the_columns_that_are_asked_for_are_written_and_for_nobody_else(monkeypatch):
    written = []
    execute = Asker._asked

    def looks(self, file, columns, kinds):
        written.append((file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777))
        written.append(pl.read_parquet(file).columns)
        return execute(self, file, columns, kinds)

    monkeypatch.setattr(Asker, "_asked", looks)
    with asker("age > 3", ["sex"]) as one:
        one.ask(PEOPLE)
        assert written == [(0o600, 0o700), ["release", "age", "sex"]]
        assert list(one.folder.iterdir()) == []
    assert not one.folder.exists()


def test_where_no_labels_are_known_those_of_copies_are_gathered():
    with asker("sex = 'X' OR cost = '7'", labels={}) as one:
        one.ask(PEOPLE)
        assert one.seen == {"sex": {"F", "M"}, "cost": {"7", "90", "120", "1000", "(missing)"}}
