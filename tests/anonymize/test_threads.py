"""Parts are worked on once each, however many threads there are."""

import polars as pl
import pytest

from republish.anonymize.threads import side_by_side


@pytest.mark.parametrize("threads", [1, 3])
def test_each_part_is_worked_on_once_and_what_goes_wrong_is_said(monkeypatch, threads):
    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)
    done = []
    side_by_side(lambda one, other: done.append((one, other)), range(5), "abcde")
    assert sorted(done) == list(enumerate("abcde"))
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda part: 1 / part, [1, 0])
