"""What is counted of a candidate under the global guarantee before it may be published.

The ledger is posted a second time here, from the tables as they would be published and from the linkage, by
other code than the principle's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from anonymize.arrays import Bools, Floats, Ints
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Contract
from anonymize.evidence.generalized import GeneralizedCandidate
from anonymize.global_guarantee.parameters import GlobalGuarantee
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State

ROUNDING = 1e-9
"""Sums of logarithms round: a probability that is so close to 1/l is 1/l, and keeps the promise."""


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract[GlobalGuarantee],
    _attacked: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:
    """The evidence on a candidate, by the name of the check it is for.

    Returns
    -------
    dict
        `breach_probability`, `ledger`, `coverage`, `minimum_widths`, `counterfeits`.
    """
    seen = GeneralizedCandidate.of(candidate, people, contract)
    posting = post_again(seen.published.values, candidate, before, contract.principle.l)
    return {
        "breach_probability": breach_probability(posting),
        "ledger": ledger(posting, people, before, candidate.state, contract.principle.forget_after),
        **seen.evidence(),
    }


@dataclass(frozen=True)
class Posting:
    """The links of a candidate's ledger, and what they should be."""

    owner: Ints
    """int64[L]: the row in the ledger's `people` of each link."""
    booked: Floats
    """float64[L]: what the ledger says was spent on it."""
    spent: Floats
    """float64[L]: what was spent on it, by the ledger before and the published tables."""
    is_of_today: Bools
    """bool[L]: whether this release spent on it."""
    missing: int
    """Links that should be in the ledger of people who are in it, and are not."""
    promised: Ints
    """int64[P]: l of the strictest promise each person in the ledger was ever given."""


def post_again(values: pl.DataFrame, candidate: Candidate, before: State, l: int) -> Posting:
    """What the ledger should be after a release.

    Parameters
    ----------
    values
        The published release's `group_id`, `value`, `tuples`.
    candidate
        Its linkage and its ledger.
    before
        The ledger of the release before.
    l
        The contract's.
    """
    after = candidate.state.tables
    known = after["people"].select(PSEUDONYM).with_row_index("owner")
    domain = after["values"].select(VALUE).with_row_index("value_id")
    number = max(1, domain.height)
    owner = after["links"]["person"].to_numpy().astype(np.int64)
    keys = owner * number + after["links"]["value_id"].to_numpy()
    posting = Posting(
        owner=owner,
        booked=after["links"]["spent"].to_numpy(),
        spent=np.zeros(len(keys)),
        is_of_today=np.zeros(len(keys), bool),
        missing=0,
        promised=np.full(known.height, 0),
    )

    share = pl.col("tuples") / pl.col("tuples").sum().over("group_id")
    shares = values.select("group_id", VALUE, spent=-(-share).log1p()).join(domain, on=VALUE, how="left")
    hosts = candidate.linkage.join(known, on=PSEUDONYM).sort("owner")
    today = hosts.join(shares.sort("group_id", "value_id"), on="group_id", maintain_order="left_right")
    posting.promised[hosts["owner"].to_numpy()] = l
    missing = candidate.linkage.height - hosts.height
    missing += _add(
        posting, keys, today["owner"], today["value_id"], today["spent"], number, is_of_today=True
    )

    if before.tables:
        register = before.tables["people"].join(known, on=PSEUDONYM, how="left", maintain_order="left")
        kept = register.drop_nulls("owner")
        rows = kept["owner"].to_numpy()
        posting.promised[rows] = np.maximum(posting.promised[rows], kept["l"].to_numpy())
        codes = before.tables["values"].join(domain, on=VALUE, how="left", maintain_order="left")["value_id"]
        links = before.tables["links"]
        whose, what = register["owner"].gather(links["person"]), codes.gather(links["value_id"])
        missing += _add(posting, keys, whose, what, links["spent"], number, is_of_today=False)
    return replace(posting, missing=missing)


def _add(
    posting: Posting,
    keys: np.ndarray,
    owner: pl.Series,
    value_id: pl.Series,
    spent: pl.Series,
    number: int,
    *,
    is_of_today: bool,
) -> int:
    """Add what was spent on links to the posting; return how many of them it lacks. No owner: forgotten."""
    links = pl.DataFrame({"owner": owner.cast(pl.Int64), "value_id": value_id.cast(pl.Int64), "spent": spent})
    links = links.drop_nulls("owner")
    wanted = links["owner"].to_numpy() * number + links["value_id"].fill_null(-1).to_numpy()
    if not len(keys):
        return len(wanted)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_there = keys[at] == wanted
    # A link is once in each of the two sources, so that no position is added to twice.
    posting.spent[at[is_there]] += links["spent"].to_numpy()[is_there]
    if is_of_today:
        posting.is_of_today[at[is_there]] = True
    return int((~is_there).sum())


def breach_probability(posting: Posting) -> pl.DataFrame:
    """`l`, `people`, `links`, `above`, `largest`, `promised`: one row for each l.

    An l is there if people hosted were promised it.

    `links` are those of this release, `above` those that take a person above the promise, `largest` is the
    largest probability among them of ever having had the value. A link that this release has not touched is a
    matter of the releases that made it: l may have been raised since.
    """
    owner = posting.owner[posting.is_of_today]
    promised = posting.promised[owner]
    probability = -np.expm1(-posting.spent[posting.is_of_today])
    probability = np.where(np.abs(probability - 1 / promised) <= ROUNDING, 1 / promised, probability)
    rows = []
    for l in np.unique(promised).tolist():
        is_here = promised == l
        above = int((probability[is_here] > 1 / l).sum())
        people = len(np.unique(owner[is_here]))
        rows.append((l, people, int(is_here.sum()), above, float(probability[is_here].max()), 1 / l))
    schema = {"l": pl.Int64, "people": pl.Int64, "links": pl.Int64, "above": pl.Int64}
    return pl.DataFrame(rows, schema | {"largest": pl.Float64, "promised": pl.Float64}, orient="row")


def ledger(
    posting: Posting, people: pl.DataFrame, before: State, after: State, forget_after: int | None
) -> pl.DataFrame:
    """One row: `people`, `links`, `wrong`, `forgotten`, `forgotten_early`, `weakened`.

    `wrong` are links that should be in the ledger with another sum, or at all, or should not be; `forgotten`
    people who are not in it any more, `forgotten_early` those of them who are here or may not be forgotten
    yet, `weakened` people with a weaker promise than they were given.

    Parameters
    ----------
    posting
        What `post_again` returned.
    people
        T(n).
    before, after
        The ledgers.
    forget_after
        The contract's.
    """
    wrong = int((np.abs(posting.spent - posting.booked) > ROUNDING).sum()) + posting.missing
    register = after.tables["people"]
    forgotten = early = 0
    if before.tables:
        gone = before.tables["people"].join(register, on=PSEUDONYM, how="anti")
        forgotten = gone.height
        number = after.tables["release"]["number"].item()
        is_here = pl.col(PSEUDONYM).is_in(people[PSEUDONYM].implode())
        is_early = pl.lit(value=True) if forget_after is None else pl.col("last_seen") > number - forget_after
        early = gone.filter(is_here | is_early).height
    counts = {
        "people": register.height,
        "links": len(posting.owner),
        "wrong": wrong,
        "forgotten": forgotten,
        "forgotten_early": early,
        "weakened": int((register["l"].to_numpy() < posting.promised).sum()),
    }
    return pl.DataFrame(counts, schema=dict.fromkeys(counts, pl.Int64))
