"""Assignments are those of scipy, of which no more is imported than solves them."""

import subprocess
import sys

import numpy as np
import scipy
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.m_invariance.assignment import assign_most

SCRIPT = """
import sys
import numpy as np
from republish.anonymize.m_invariance.assignment import assign_most
assign_most(np.eye(3))
print("scipy.optimize" in sys.modules)
"""


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 9), st.integers(1, 3))
def test_assignments_are_those_of_scipy_where_several_gain_as_much(rows, columns, seed, most):
    gain = np.random.default_rng(seed).integers(0, most, (rows, columns), endpoint=True).astype(float)
    ours, its = assign_most(gain), scipy.optimize.linear_sum_assignment(gain, maximize=True)
    assert [one.tolist() for one in ours] == [one.tolist() for one in its]


def test_an_assignment_does_without_the_rest_of_what_optimizes():
    said = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
