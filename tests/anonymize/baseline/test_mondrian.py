"""The cuts of Mondrian against plain Python."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.kernels.mondrian import partition


def is_diverse(values, diversity):
    return max(Counter(values).values()) * diversity <= len(values)


def by_the_book(rows, widths, values, diversity):
    """The groups of some rows, each a set of their numbers: cut at the median of the widest attribute."""

    def split(group):
        spans = [(max(column) - min(column)) for column in zip(*(rows[i] for i in group), strict=True)]
        order = sorted(range(len(spans)), key=lambda a: -spans[a] / widths[a])
        for a in (a for a in order if spans[a] > 0):
            codes = sorted(rows[i][a] for i in group)
            median = codes[(len(codes) - 1) // 2]
            at = median if median < codes[-1] else max(code for code in codes if code < median)
            parts = [i for i in group if rows[i][a] <= at], [i for i in group if rows[i][a] > at]
            if all(is_diverse([values[i] for i in part], diversity) for part in parts):
                return split(parts[0]) | split(parts[1])
        return {frozenset(group)}

    return split(list(range(len(rows))))


# Domains have different widths, so that two attributes are never equally wide.
ROW = st.tuples(st.integers(0, 7), st.integers(0, 11), st.integers(0, 1), st.integers(0, 3))


@settings(max_examples=60)
@given(st.lists(ROW, min_size=1, max_size=60), st.integers(2, 4))
def test_groups_are_those_of_plain_python(people, diversity):
    rows, values = [row[:3] for row in people], [row[3] for row in people]
    widths = [7.3, 11.9, 1.7]
    group = partition(np.array(rows, float), np.array(widths), np.array(values), diversity)
    found = {frozenset(np.flatnonzero(group == number).tolist()) for number in set(group)}
    assert found == by_the_book(rows, widths, values, diversity)
