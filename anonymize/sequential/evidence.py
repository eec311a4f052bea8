"""Evidence that a view keeps its promises, counted from the table as it would be published."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from anonymize.contract import CategoryColumn, ViewContract
from anonymize.formats.intervals import half_open
from anonymize.formats.taxonomy_cuts import CUTS, VIEW
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from anonymize.sequential.matching import Coded, Pairs, code_published, code_view, node_intervals, unrelated
from anonymize.sequential.parameters import Sequential
from anonymize.sequential.privacy import linking
from anonymize.sequential.release import earlier_releases


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: ViewContract[Sequential],
    _attacked: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:
    """All evidence on a view, by the name of the check that judges it; counts only.

    Parameters
    ----------
    candidate
        The release.
    people
        T1: `pseudonym`, `column_0`, ….
    before
        The state that the release was made from.
    contract
        The columns, and what is promised of them.

    Returns
    -------
    dict
        `join_privacy`, `population`, `taxonomy_cuts`, `view_records`.
    """
    number = 1 + sum(name.startswith("view_") for name in before.tables)
    earlier = earlier_releases(before, contract, number)
    view = candidate.published[VIEW]
    ours = view.rename({name: f"column_{position}" for position, name in enumerate(view.columns)})
    published = code_published(ours, contract.columns, "the view")
    truth = code_view(people, contract.columns, contract.principle.x)
    pairs = Pairs.of(contract)
    found = linking(published, earlier, contract)
    return {
        "join_privacy": pl.DataFrame(
            {
                "earlier_releases": [len(earlier)],
                "partitions": [found.partitions],
                "broken": [found.broken],
                "found": [found.safety],
                "promised": [found.needed],
                "short_of": [max(found.needed - found.safety, 0.0)],
            }
        ),
        "population": pl.DataFrame(
            [(i, *unrelated(truth, one, pairs)) for i, one in enumerate(earlier)],
            schema={"earlier_id": pl.Int64, "view_unmatched": pl.Int64, "earlier_unmatched": pl.Int64},
            orient="row",
        ),
        "taxonomy_cuts": _cuts(candidate.state.tables[CUTS], contract),
        "view_records": _records(ours, truth, published, candidate.state.tables[CUTS]),
    }


def _cuts(cuts: pl.DataFrame, contract: ViewContract[Sequential]) -> pl.DataFrame:
    """`column_id`, `nodes`, `uncovered`, `covered_twice`: a cut has one node above each leaf.

    Leaves are counted for categories; for numbers, gaps and overlaps between intervals.
    """
    rows = []
    for position, column in enumerate(contract.columns):
        cut = cuts.filter(pl.col("column") == position).sort("low")
        if cut.is_empty():
            continue
        low, high = cut["low"].to_numpy(), cut["high"].to_numpy()
        if isinstance(column, CategoryColumn):
            leaves = np.arange(len(column.labels))[:, None]
            above = ((leaves >= low) & (leaves < high)).sum(axis=1)
            known = node_intervals(column)
            strange = sum(
                known.get(label) != (begin, end)
                for label, begin, end in cut.select("label", "low", "high").iter_rows()
            )
            uncovered, twice = int((above == 0).sum()) + strange, int((above > 1).sum())
        else:
            ends = np.array(
                [column.domain[0], half_open(column.domain[1], discrete=column.discrete)], np.float64
            )
            gaps = np.append(low, ends[1]) - np.append(ends[0], high)
            uncovered, twice = int((gaps > 0).sum()), int((gaps < 0).sum())
        rows.append((position, cut.height, uncovered, twice))
    names = ("column_id", "nodes", "uncovered", "covered_twice")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")


def _records(
    view: pl.DataFrame, truth: dict[str, Coded], published: dict[str, Coded], cuts: pl.DataFrame
) -> pl.DataFrame:
    """`records`, `published`, `differing`: the view is the people's values under the cuts."""
    columns = {}
    for position, column in enumerate(truth.values()):
        cut = cuts.filter(pl.col("column") == position).sort("low")
        if cut.is_empty():
            columns[f"column_{position}"] = pl.Series(column.labels, dtype=pl.String).gather(column.codes)
        else:
            node = np.searchsorted(cut["low"].to_numpy(), column.low, side="right") - 1
            columns[f"column_{position}"] = cut["label"].gather(node[column.codes])
    expected = pl.DataFrame(columns).group_by(pl.all()).len("expected")
    there = view.select(
        pl.Series(published[name].labels, dtype=pl.String)
        .gather(published[name].codes)
        .alias(f"column_{position}")
        for position, name in enumerate(truth)
    )
    compared = (
        there.group_by(pl.all()).len("there").join(expected, on=there.columns, how="full", coalesce=True)
    )
    there_count, expected_count = (pl.col(name).fill_null(0).cast(pl.Int64) for name in ("there", "expected"))
    differing = compared.select((there_count - expected_count).abs().sum()).item()
    return pl.DataFrame(
        {
            "records": [len(next(iter(truth.values())).codes)],
            "published": [view.height],
            "differing": [differing],
        }
    )
