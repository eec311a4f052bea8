"""When loops are interpreted, and when compiled. All tests show that both ways answer the same (`loops`)."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

from republish.anonymize.kernels import compiled
from republish.anonymize.kernels.compiled import LONG, PATIENCE, Interpreter, Loop
from tests.loops import Both

SHORT, LONGER = np.zeros(LONG // 8), np.zeros(LONG // 8 + 1)


class Accounts(NamedTuple):
    """An argument of arrays."""

    first: np.ndarray
    last: np.ndarray


@pytest.fixture
def interpreter(monkeypatch):
    """That of a process which has called no loop yet."""
    monkeypatch.setattr(compiled, "interpreter", made := Interpreter())
    return made


def loop(function=lambda *_: "interpreted"):
    """A loop that says in which way it was answered."""
    made = Loop(function, {})
    made.dispatcher = lambda *_: "compiled"
    return made


@pytest.mark.parametrize("arguments", [(), (3, SHORT), (SHORT, Accounts(SHORT, SHORT)), ([1, 2], 2.0)])
def test_a_loop_with_short_arrays_is_interpreted(interpreter, arguments):
    assert loop()(*arguments) == "interpreted"


@pytest.mark.parametrize("arguments", [(LONGER,), (3, SHORT, LONGER), (SHORT, Accounts(SHORT, LONGER))])
def test_from_the_first_long_array_on_all_loops_are_compiled(interpreter, arguments):
    assert loop()(SHORT) == "interpreted"
    assert loop()(*arguments) == "compiled"
    assert loop()(SHORT) == "compiled"


def test_once_short_ones_took_long_together_all_loops_are_compiled(interpreter):
    interpreter.seconds = PATIENCE
    assert loop()(SHORT) == "compiled"


def test_what_an_interpreted_loop_calls_is_interpreted_whatever_it_is_given(interpreter):
    assert loop(lambda array: loop()(np.concatenate([array, array])))(SHORT) == "interpreted"
    assert interpreter.seconds < PATIENCE
    seen = []
    other = threading.Thread(target=lambda: seen.append(loop()(LONGER)))

    def waits(_):
        other.start()
        other.join()
        return loop()(LONGER)

    assert loop(waits)(SHORT) == "interpreted"
    assert seen == ["compiled"]  # another thread is in no loop


def test_a_loop_that_fails_leaves_nothing_behind(interpreter):
    with pytest.raises(ZeroDivisionError):
        loop(lambda _: 1 // 0)(SHORT)
    assert loop()(LONGER) == "compiled"


@pytest.mark.filterwarnings("error")
def test_numbers_of_64_bits_wrap_around(interpreter):
    most = np.array([2**64 - 1], np.uint64)
    assert loop(lambda array: array[0] + np.uint64(2))(most) == 1


@pytest.mark.parametrize("numbas", [1.5, np.array([1]), (np.array([1.0]), 2)])
def test_another_answer_of_numba_would_be_seen(numbas):
    made = Loop(lambda array: (array, 1), {})
    made.dispatcher = lambda _: numbas
    with pytest.raises(AssertionError, match="answers something else"):
        Both().answer(made, (np.array([1.0]),))
