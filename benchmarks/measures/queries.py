"""Counts asked of a release as the papers ask them, and what they come to."""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks.measures.cells import Cells
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Contract, Schema
from republish.anonymize.people.codes import code_domain
from republish.anonymize.utility.queries import Workload, overlap, random_intervals

QUERIES, SELECTIVITY = 10_000, 0.1
"""Those of the m-invariance paper's Figures 7 and 8b."""
SELECTIVITIES = (0.01, 0.02, 0.05, SELECTIVITY, 0.2)


def range_workload(schema: Schema, queries: int, selectivity: float, rng: np.random.Generator) -> Workload:
    """Random queries on all quasi-identifiers and a range of sensitive values, of one expected selectivity.

    With d quasi-identifiers, each of the d + 1 intervals covers the same share of its domain, such that their
    product is the selectivity; of whole-number domains, the nearest number of codes, and at least one.

    Parameters
    ----------
    schema
        The quasi-identifiers with their domains, and the declared sensitive values in their order.
    queries
        How many.
    selectivity
        The share of all cells of the domain that a query admits, above 0 and at most 1.
    rng
        What is asked.

    Returns
    -------
    Workload
        Its columns are `qi_0`, …, and last `value`: the place of a value among the declared ones.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.2.
    """
    attributes = list(schema.attributes())
    width = selectivity ** (1 / (len(attributes) + 1))
    domains = [(*code_domain(qi), qi.discrete) for _, qi in attributes]
    domains.append((0, len(schema.sensitive.values) - 1, True))
    ends = [random_intervals(*domain, queries, width, rng) for domain in domains]
    low, high = (np.column_stack(side).astype(float) for side in zip(*ends, strict=True))
    return Workload((*(column for column, _ in attributes), VALUE), low, high, (None,) * queries)


def estimated_counts(tuples: pl.DataFrame, workload: Workload, schema: Schema) -> np.ndarray:
    """float64[Q]: the answers estimated from a release, tuple by tuple.

    Parameters
    ----------
    tuples
        `value`, and its group's `qi_0_low`, `qi_0_high`, … as codes: a row for each published tuple, or for
        as many as `tuples` says.
    workload
        The queries.
    schema
        The quasi-identifiers: what is discrete covers both of its ends.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, Workload-aware anonymization, KDD 2006.
    """
    unit = {column: int(attribute.discrete) for column, attribute in schema.attributes()}
    of_value = {value: part for (value,), part in tuples.partition_by(VALUE, as_dict=True).items()}
    answers = np.zeros(len(workload.value))
    for query, value in enumerate(workload.value):
        asked = tuples if value is None else of_value.get(value, tuples.clear())
        share = asked["tuples"].to_numpy() * 1.0 if "tuples" in asked.columns else np.ones(asked.height)
        for column, low, high in zip(
            workload.columns, workload.low[query], workload.high[query], strict=True
        ):
            ends = (asked[f"{column}_{end}"].to_numpy() for end in ("low", "high"))
            share *= overlap(*ends, low, high, unit[column])
        answers[query] = share.sum()
    return answers


def median_relative_error(true: np.ndarray, estimated: np.ndarray) -> float:
    """The median of |true - estimated| / true over the queries.

    Where the true count is 0, an estimate of 0 has the error 0 and any other an infinite one.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.2.
    """
    off = np.abs(true - estimated)
    relative = np.divide(off, true, out=np.where(off > 0, np.inf, 0.0), where=true > 0)
    return float(np.median(relative))


def workload_errors(
    true: Cells, estimated: Cells, contract: Contract, selectivities: tuple[float, ...], seed: int
) -> dict[str, float]:
    """The median relative error of 10,000 random queries, by expected selectivity."""
    found = {}
    for selectivity in selectivities:
        rng = np.random.default_rng([seed, round(1000 * selectivity)])
        workload = range_workload(contract, QUERIES, selectivity, rng)
        found[f"{selectivity:g}"] = median_relative_error(true.counts(workload), estimated.counts(workload))
    return found
