"""Times on paper: what one process does takes as long however many share the rest."""

import pytest

from benchmarks.speed.shards import BY_ALL, BY_ONE_PROCESS, HEADINGS, on_paper


def seconds(executors, shards=500, **measured):
    row = dict.fromkeys(HEADINGS, 0.0) | measured
    tables = on_paper(row, 50_000_000, 2, shards=(shards, shards), executors=(executors, executors))
    return next(tables).rows[0][-1]


@pytest.mark.parametrize("step", [*BY_ALL, *BY_ONE_PROCESS])
def test_executors_share_all_but_what_one_process_does(step):
    ten, forty = (seconds(executors, shards=1_600, **{step: 8.0}) for executors in (10, 40))
    assert forty == pytest.approx(ten if step in BY_ONE_PROCESS else ten / 4)


def test_every_step_that_is_measured_is_reckoned_with():
    assert {*BY_ALL, *BY_ONE_PROCESS} == {
        *HEADINGS[HEADINGS.index("dividing") : HEADINGS.index("counterfeits")]
    }


def test_one_process_takes_as_long_for_more_shards():
    assert seconds(10, shards=1_000, publishing=1.0) == seconds(10, publishing=1.0) == 20.0
