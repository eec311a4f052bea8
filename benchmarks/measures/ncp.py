"""The normalized certainty penalty: which share of its domain an interval covers, on average."""

from __future__ import annotations

import polars as pl

from anonymize.contract import Schema
from anonymize.people.codes import code_domain


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
