#!/usr/bin/env bash
# numba 0.68.1: the sum of thirty million ones of float32 is 16,777,216.
#
# Believed: numbers.sum() is what numpy answers, up to the last digits: numba supports the method.
# Seen: numba adds one number after the other in float32, where 16,777,216 + 1 is 16,777,216; numpy adds in pairs,
# and answers 30,000,000. Small integers go the other way: 255 + 1 of uint8 is 256 in numba, and 0 in numpy; True +
# True is 2, and True in numpy.
# What follows: a kernel and its test against numpy agree on small tables, and a sum of weights stands still on a
# large one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numba==0.68.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings

import numba
import numpy as np

warnings.simplefilter("ignore")


@numba.njit
def total(numbers):
    return numbers.sum()


@numba.njit
def first_two(numbers):
    return numbers[0] + numbers[1]


ones = np.ones(30_000_000, dtype=np.float32)
bytes_ = np.array([255, 1], dtype=np.uint8)
truths = np.array([True, True])
print("numba", numba.__version__, "numpy", np.__version__, "sums:", total(ones), total.py_func(ones))
print("255 + 1:", first_two(bytes_), first_two.py_func(bytes_), "True + True:", first_two(truths), first_two.py_func(truths))
assert total.py_func(ones) == 30_000_000
assert total(ones) == 16_777_216, "the behaviour changed"
assert (first_two(bytes_), first_two.py_func(bytes_)) == (256, 0), "the behaviour changed"
assert (first_two(truths), first_two.py_func(truths)) == (2, True), "the behaviour changed"
PYTHON
