"""What groups cost: the lengths of intervals, and the least that sizes can come to."""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.contract import Schema
from republish.anonymize.people.codes import code_domain


def normalized_certainty_penalty(boxes: pl.DataFrame, sizes: pl.DataFrame, schema: Schema) -> float:
    """The mean, over tuples and quasi-identifiers, of interval length by domain length; 0 (exact) to 1.

    Parameters
    ----------
    boxes
        `group_id`, `qi_0_low`, `qi_0_high`, … as codes: one row per group.
    sizes
        `group_id`, `size`: the tuples of each group.
    schema
        The quasi-identifiers with their domains.

    References
    ----------
    Xu et al., Utility-based anonymization using local recoding, KDD 2006.
    """
    shares = [
        (pl.col(f"{column}_high") - pl.col(f"{column}_low"))
        / ((code_domain(qi)[1] - code_domain(qi)[0]) or 1)
        for column, qi in schema.attributes()
    ]
    tuples = boxes.join(sizes, on="group_id")
    return tuples.select((pl.mean_horizontal(shares) * pl.col("size")).sum() / pl.col("size").sum()).item()


def least_discernibility(counts: np.ndarray, l: int) -> int:
    """The smallest discernibility of any partition into l-diverse groups: no value has more than 1/l of one.

    Parameters
    ----------
    counts
        int[V]: tuples of each sensitive value; l-eligible.
    l
        At least 2.

    Notes
    -----
    An l-diverse group has at least l tuples, so there are at most floor(N / l) groups, and
    squares add up to least if there are as many as can be and their sizes differ by at most one. Such a
    partition exists: put the tuples in a row, value after value, and give the i-th one to group i modulo
    floor(N / l). No value is more frequent than the number of groups, so each group has each value at most
    once.

    Examples
    --------
    >>> least_discernibility(np.array([2, 2, 1]), 2)
    13
    """
    tuples = int(counts.sum())
    if int(counts.max(initial=0)) * l > tuples:
        raise ValueError(f"{tuples} tuples, of which {counts.max()} share a value, are not {l}-eligible")
    if not tuples:
        return 0
    size, larger = divmod(tuples, tuples // l)
    return (tuples // l - larger) * size**2 + larger * (size + 1) ** 2
