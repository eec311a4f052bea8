"""What is counted of a streamliner's candidate before it may be published."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from anonymize.buckets.memory import Memory
from anonymize.columns import VALUE
from anonymize.contract import Contract
from anonymize.evidence.generalized import GeneralizedCandidate
from anonymize.evidence.signatures import group_sizes, signature_invariance
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from anonymize.streamliner.conditions import Proposal, theorem_2_faults
from anonymize.streamliner.parameters import StreamlinerParameters


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract[StreamlinerParameters],
    _attacked: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:
    """The evidence on a candidate, by the name of the check it is for.

    Returns
    -------
    dict
        `l_diversity`, `l_candidates`, `signature_invariance` (of people published before, so that it has no
        rows for a single release), `coverage`, `minimum_widths`, `counterfeits`.
    """
    memory = Memory.of(before, people.schema[VALUE])
    remembered = memory.people, memory.buckets
    seen = GeneralizedCandidate.of(candidate, people, contract)
    return {
        "l_diversity": l_diversity(group_sizes(seen.groups, seen.hosted, remembered), contract.principle.l),
        "l_candidates": l_candidates(seen.microdata, contract.principle.l),
        "signature_invariance": signature_invariance(seen.groups, seen.hosted, remembered),
        **seen.evidence(),
    }


def l_diversity(groups: pl.DataFrame, l: int) -> pl.DataFrame:
    """`group_id`, `tuples`, `values`, `most`, `newcomers`, `too_many`: tuples of a value beyond 1/l.

    Parameters
    ----------
    groups
        `group_id`, `tuples`, `values`, `most` (tuples of one value), `newcomers`: a row for each group.
    l
        At least 2.
    """
    too_many = (pl.col("most") - pl.col("tuples") // l).clip(0).alias("too_many")
    return groups.select("group_id", "tuples", "values", "most", "newcomers", too_many)


def l_candidates(microdata: pl.DataFrame, l: int) -> pl.DataFrame:
    """One row: whether each color has l - 1 candidates with bijections that stay inside the published groups.

    `tuples`, `outside`, `wrong_size`, `own_color`, `shared`, `too_many`: pairs of a bijection that are not in
    one group, and the faults against Theorem 2. The bijections are not those of the algorithm but found anew
    in the published table: with its tuples in order of value, f_u maps the tuple at place j of a group to the
    one u · c places on, where c is how often the group's most frequent value occurs. That meets all
    conditions exactly if the group is l-diverse.

    Parameters
    ----------
    microdata
        The published table, under our own column names.
    l
        At least 2.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, Theorem 2.
    """
    tuples = microdata.select("group_id", pl.col(VALUE).rank("dense").cast(pl.Int64).alias("color") - 1).sort(
        "group_id", "color"
    )
    group = tuples["group_id"].rank("dense").cast(pl.Int64).to_numpy() - 1
    color = tuples["color"].to_numpy()
    counts = tuples.group_by("group_id", "color").len().group_by("group_id").agg(pl.col("len").max())
    step = counts.sort("group_id")["len"].cast(pl.Int64).to_numpy()[group, None]
    sizes = np.bincount(group)
    start, size = (np.cumsum(sizes) - sizes)[group, None], sizes[group, None]
    place = np.arange(len(group))[:, None] - start
    images = start + (place + np.arange(1, l) * step) % size
    proposed = Proposal(
        color=np.repeat(color, l - 1),
        candidate=np.tile(np.arange(l - 1), len(color)),
        member=images.ravel(),
    )
    faults = theorem_2_faults(proposed, color, l)
    return pl.DataFrame(
        {
            "tuples": [len(color)],
            "outside": [int((group[images] != group[:, None]).sum())],
            "wrong_size": [faults.wrong_size],
            "own_color": [faults.own_color],
            "shared": [faults.shared],
            "too_many": [faults.too_many],
        }
    )
