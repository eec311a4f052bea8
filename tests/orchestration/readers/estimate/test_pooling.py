"""What copies say is pooled by Rubin's rules: worked examples, and what has no answer."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import republish
from republish.orchestration.readers.estimate.pooling import Said, pooled_rows, students_t

scipy_stats = pytest.importorskip("scipy.stats")
DATES = [dt.date(2024, 1, 1), dt.date(2024, 4, 1)]


def said(*answers, is_count=True, of_dates=False, people=10, releases=1, names=("sex",)):
    """Answers of copies, each as rows of a key and what is answered."""
    tables = [
        pl.DataFrame(rows, {"key_0": pl.String, "answer": pl.Float64}, orient="row") for rows in answers
    ]
    everybody = np.full(releases, people)
    return Said.of(tables, DATES[:releases], everybody, names, is_count=is_count, of_dates=of_dates)


@pytest.mark.parametrize("freedom", [*range(1, 40), 99, 999])
def test_students_t_is_that_of_scipy(freedom):
    assert students_t(freedom) == pytest.approx(scipy_stats.t.ppf(0.975, freedom), abs=5e-4)


def test_rows_are_pooled_as_what_copies_say_is():
    values = np.random.default_rng(1).normal(50, 3, (40, 25))
    mean, error, reach = pooled_rows(values)
    each = np.array([republish.pooled(row) for row in values])
    assert np.allclose(np.stack([mean, error], axis=1), each)
    assert np.allclose(reach, 2.0639 * error, rtol=1e-4)


def test_copies_without_an_answer_are_left_out_and_most_must_have_one():
    values = np.array([[1, 2, 3, np.nan, np.inf], [1, 2, np.nan, np.nan, np.nan], [np.nan] * 5])
    mean, error, reach = pooled_rows(values)
    assert (mean[0], error[0]) == pytest.approx(republish.pooled([1, 2, 3]))
    assert reach[0] == pytest.approx(4.3027 * error[0])
    assert np.isnan([*mean[1:], *error[1:], *reach[1:]]).all()


def test_a_combination_that_a_copy_lacks_counts_nobody_there():
    table = said([("F", 4), ("M", 6)], [("M", 10)], [("F", 2), ("M", 8)]).table()
    assert table.columns == [
        *("release", "sex", "people", "standard_error", "low", "high", "share", "share_error")
    ]
    women, men = table.rows(named=True)
    error = republish.pooled([4, 0, 2])[1]
    assert (women["people"], women["standard_error"]) == (2, round(error, 1))
    assert (women["low"], women["high"]) == (0, np.ceil(2 + 4.3027 * error))
    assert (men["low"], men["high"]) == (0, np.ceil(8 + 4.3027 * error))
    assert (women["share"], women["share_error"]) == (0.2, round(error / 10, 4))


def test_shares_are_of_all_who_meet_the_condition_copy_by_copy():
    women, men = said([("F", 1), ("M", 3)], [("F", 2), ("M", 6)], people=100).table().rows(named=True)
    assert (women["people"], women["standard_error"] > 0) == (1.5, True)
    assert (women["share"], women["share_error"], men["share"]) == (0.25, 0, 0.75)


def test_a_copy_in_which_nobody_meets_the_condition_has_no_shares():
    (women,) = said([("F", 1)], [], [("F", 3)]).table().rows(named=True)
    assert (women["people"], women["share"], women["share_error"]) == (1.3, 1, 0)


def test_the_share_of_one_count_is_that_of_everybody():
    tables = [pl.DataFrame({"answer": [one]}, {"answer": pl.Float64}) for one in (2, 4)]
    whole = Said.of(tables, DATES[:1], np.array([12]), [], is_count=True, of_dates=False).table()
    assert whole.columns[:2] == ["release", "people"]
    assert whole.select("people", "share").row(0) == (3, 0.25)
    assert whole.schema["low"] == pl.Int64


def test_nobody_is_no_row():
    nobody = said([], []).table()
    assert nobody.is_empty()
    assert nobody.columns[:3] == ["release", "sex", "people"]
    assert said([], [], [], [], releases=2).changes().is_empty()


def test_an_estimate_has_three_digits_of_its_error_and_none_where_most_copies_have_none():
    answers = [[("F", 1234.5), ("M", None)], [("F", 1236.5), ("M", 3)], [("F", 1235.9)]]
    women, men = said(*answers, is_count=False).table().rows(named=True)
    mean, error = republish.pooled([1234.5, 1236.5, 1235.9])
    assert (women["estimate"], women["standard_error"]) == (round(mean, 2), round(error, 2))
    assert women["low"] == pytest.approx(mean - 4.3027 * error, abs=0.01)
    assert [men[name] for name in ("estimate", "standard_error", "low", "high")] == [None] * 4


def test_an_answer_without_an_error_is_exact():
    (row,) = said([("F", 0.1)], [("F", 0.1)], is_count=False).table().rows(named=True)
    assert (row["estimate"], row["standard_error"], row["low"], row["high"]) == (0.1, 0, 0.1, 0.1)


def test_dates_are_pooled_as_dates_and_their_errors_are_in_days():
    table = said([("F", 19723)], [("F", 19725)], is_count=False, of_dates=True).table()
    (row,) = table.rows(named=True)
    assert row["estimate"] == dt.date(2024, 1, 2)
    assert row["standard_error"] == pytest.approx(np.sqrt(3), abs=0.01)
    assert row["low"] < dt.date(2023, 12, 20) < dt.date(2024, 1, 20) < row["high"]


def test_a_change_is_the_difference_copy_by_copy():
    """Both releases err alike: what changed has no error."""
    answers = [[("F", 4)], [("F", 6), ("M", 1)], [("F", 5), ("M", 1)], [("F", 7), ("M", 2)]]
    women, men = said(*answers, releases=2).changes().rows(named=True)
    assert list(women) == ["release", "sex", "before", "people", "change", "standard_error", "low", "high"]
    assert (women["release"], women["before"]) == (DATES[1], DATES[0])
    assert [women[name] for name in ("people", "change", "standard_error", "low", "high")] == [6, 1, 0, 1, 1]
    assert (men["people"], men["change"], men["standard_error"]) == (1.5, 1, 0)


def test_a_change_of_what_has_no_answer_before_is_none():
    answers = [[], [], [("F", 2)], [("F", 4)]]
    (row,) = said(*answers, releases=2, is_count=False).changes().rows(named=True)
    assert (row["estimate"], row["change"], row["low"]) == (3, None, None)
    (row,) = said(*answers[::-1], releases=2, is_count=False).changes().rows(named=True)
    assert (row["estimate"], row["change"]) == (None, None)


def test_a_change_may_be_below_nought():
    answers = [[("F", 4)], [("F", 4)], [("F", 1)], [("F", 2)]]
    (row,) = said(*answers, releases=2).changes().rows(named=True)
    assert (row["change"], row["low"] < -3) == (-2.5, True)


def test_counts_with_intervals_wider_than_half_of_all_people_are_counted():
    unsure = said([("F", 1), ("M", 6)], [("F", 9), ("M", 6)])
    assert unsure.undecided(of_changes=False) == 1
    assert said([("F", 4), ("M", 6)], [("F", 4), ("M", 6)]).undecided(of_changes=False) == 0
    assert said([("F", 1)], [("F", 900)], is_count=False).undecided(of_changes=False) == 0
    # Below 0 there is nobody: an interval from -3.2 to 3.5 is one to 3.5.
    assert said([("F", 0)], [("F", 0.3)]).undecided(of_changes=False) == 0
    releases = [[("F", 2)], [("F", 2)], [("F", 1)], [("F", 9)]]
    assert said(*releases, releases=2).undecided(of_changes=True) == 1
