"""A stable partition of a part of a list, which splitting kernels call for every list they keep sorted."""

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled(inline="always")
def stable_partition(rows: Ints, start: int, stop: int, is_first: Bools, kept: Ints) -> None:
    """Put those of `rows[start:stop]` that are first before the others; both keep their order.

    A kernel that calls this has it compiled into itself: whoever changes it deletes the compiled kernels
    (`__pycache__`), since numba looks at the caller's file alone. `is_first` is by row number, and `kept` is
    space for as many rows to work in.
    """
    at, rest = start, 0
    for i in range(start, stop):
        row = rows[i]
        if is_first[row]:
            rows[at] = row
            at += 1
        else:
            kept[rest] = row
            rest += 1
    rows[at:stop] = kept[:rest]
