"""A part of a question is one expression over columns that there are, or is refused in one line."""

import pytest

from republish.anonymize.errors import QueryError
from republish.orchestration.readers.estimate.expression import Expression

COLUMNS = ["release", "age", "sex", "disease", 'it\'s a "value"']
LABELS = {"sex": ["(missing)", "F", "M"], "disease": [f"d{number:02}" for number in range(30)]}


def read(asked, option="--where"):
    return Expression.of(option, asked, COLUMNS, LABELS)


@pytest.mark.parametrize(
    "asked",
    [
        "age < 50 AND sex = 'F'",
        "AGE between 3 and 4",
        "age // 10",
        "substr(disease, 1, 2)",
        "CASE WHEN age > 3 THEN 'old' END",
        "age::varchar LIKE '3%'",
        "disease IN ('d01', 'd02') OR age IS NULL",
        "count(*) FILTER (WHERE sex = 'F') / count(*)",
        "quantile_cont(age, 0.9)",
        "string_agg(sex, ',' ORDER BY age DESC)",
        "age < 50 -- a comment",
        "age < 50 /* a comment */",
        '"it\'s a ""value""" = \'x\'',
        "age + interval 3 days < date '2024-01-01'",
        "';' = sex",
    ],
)
def test_what_is_one_expression_is_read_and_stands_in_brackets(asked):
    found = read(asked)
    assert found.written == f"({asked}\n)"
    assert found.columns <= {*COLUMNS}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("", "can't be read as one expression of SQL"),
        ("age >", "can't be read as one expression of SQL"),
        ("true) UNION SELECT (1", "can't be read as one expression of SQL"),
        ("age /* no end", "can't be read as one expression of SQL"),
        ("'no end", "can't be read as one expression of SQL"),
        ("age, sex", "must be one expression"),
        ("age AS years", "must be one expression"),
        ("age years sex", "can't be read as one expression of SQL"),
        ("DISTINCT age", "must be one expression"),
        ("true; SELECT 1", "must be one expression"),
        ("true; DROP TABLE people", "can't be read as one expression of SQL"),
        ("true;", "must be one expression"),
        ("age FROM people", "must be one expression"),
        ("age FROM 'x.parquet'", "must be one expression"),
        ("true WHERE false", "must be one expression"),
        ("true ORDER BY 1", "must be one expression"),
        ("true LIMIT 1", "must be one expression"),
        ("1 UNION SELECT 2", "must be one expression"),
        ("age IN (SELECT 1)", "a subquery can't be asked for"),
        ("disease = (SELECT content FROM read_text('/etc/passwd'))", "a subquery can't be asked for"),
        ("EXISTS (FROM 'x.parquet')", "a subquery can't be asked for"),
        ("count(*) OVER () > 1", "a window can't be asked for"),
        ("age > $1", "must be one expression"),
        ("#1", "a positional reference can't be asked for"),
        ("*", "a star can't be asked for"),
        ("COLUMNS('a.*') > 3", "a star can't be asked for"),
        ("agee > 3", "there is no column agee; there are release, age, sex, disease, it's a"),
        ("people.age > 3", "there is no column people.age"),
        ("copy = 3", "there is no column copy"),
        ('sex = "F"', "For the label, write 'F' in single quotes"),
    ],
)
def test_what_is_none_is_refused_after_its_option(asked, said):
    for option in ("--where", "--by", "--of"):
        with pytest.raises(QueryError) as refused:
            read(asked, option)
        assert str(refused.value).startswith(f"{option} {asked}: ")
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("sex = 'X'", "sex has no value X. It has (missing), F, M"),
        ("'X' <> sex", "sex has no value X"),
        ("disease IN ('d01', 'd0')", "disease has no value d0. Did you mean d"),
        ("disease NOT IN ('e')", "disease has no value e. It has d00, d01"),
        ("sex IS DISTINCT FROM 'f'", "sex has no value f"),
        ("avg((sex = 'W')::int)", "sex has no value W"),
        ("count(*) FILTER (WHERE SEX = 'W')", "sex has no value W"),
    ],
)
def test_a_label_that_a_column_does_not_have_is_refused_with_those_that_are_near(asked, said):
    with pytest.raises(QueryError) as refused:
        read(asked, "--of").refuse_other_labels(LABELS)
    assert str(refused.value).startswith(f"--of {asked}: ")
    assert said in str(refused.value)
    assert ("and 10 more" in str(refused.value)) == ("disease" in asked)


@pytest.mark.parametrize(
    "asked", ["sex = 'F'", "disease LIKE 'x%'", "age = '3'", "upper(sex) = 'X'", "'X' = 'Y'"]
)
def test_other_texts_are_no_labels(asked):
    read(asked).refuse_other_labels(LABELS)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("sex = 'F'", set()),
        ("sex <> 'F'", {"sex"}),
        ("NOT (sex = 'F' AND age < 3)", {"sex", "age"}),
        ("sex NOT IN ('F')", {"sex"}),
        ("sex NOT LIKE 'F%'", {"sex"}),
        ("coalesce(sex, 'F') = 'F'", {"sex"}),
        ("sex IS NULL", {"sex"}),
        ("sex <> '(missing)'", set()),
        ("sex <> 'F' AND sex <> '(missing)'", set()),
        ("CASE WHEN sex = 'F' THEN 1 ELSE 0 END", {"sex"}),
    ],
)
def test_who_may_find_missing_labels_without_a_word_of_them_is_known(asked, found):
    assert read(asked).finds_missing == found


def test_a_column_is_called_as_it_is_published_and_an_expression_as_it_was_asked():
    assert [read(asked).name for asked in ("SEX", '"age"', "age // 10")] == ["sex", "age", "age // 10"]
    odd = read(COLUMNS[-1], "--by")  # it needs no quotes where it stands by itself
    assert (odd.name, odd.written) == (COLUMNS[-1], '("it\'s a ""value"""\n)')
    assert [read(asked).is_count for asked in ("count(*)", " COUNT( * ) ", "count(age)")] == [
        True,
        True,
        False,
    ]
