"""Parts are worked on once each, however many threads there are."""

import polars as pl
import pytest

from republish.anonymize.threads import in_order, side_by_side


@pytest.mark.parametrize("threads", [1, 3])
def test_each_part_is_worked_on_once_and_what_goes_wrong_is_said(monkeypatch, threads):
    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)
    done = []
    side_by_side(lambda one, other: done.append((one, other)), range(5), "abcde")
    assert sorted(done) == list(enumerate("abcde"))
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda part: 1 / part, [1, 0])


@pytest.mark.parametrize("threads", [1, 3])
def test_answers_come_in_order_and_few_are_made_ahead(monkeypatch, threads):
    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)
    begun = []

    def square(part):
        begun.append(part)
        return part**2

    answers = in_order(square, range(20))
    assert next(answers) == 0
    assert len(begun) <= threads + 1
    assert list(answers) == [part**2 for part in range(1, 20)]
    assert sorted(begun) == list(range(20))
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda part: 1 / part, [1, 0]))
