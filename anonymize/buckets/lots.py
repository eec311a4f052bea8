"""Values that may be known: each is split into parts by lot before a principle sees the table.

A value that 61 % of the people have fits into no group in which a value may have 1/m of the tuples. If it may
be known who has it (`sensitive.not_sensitive`), it is split into parts, `none 1` to `none K`, and the
principle works with parts as with any other values. The parts become one value when tables are published.

**Promised** is a bound on assignments of numbered rows: to an adversary who takes all assignments of parts to
people as equally likely. Whoever takes all assignments of published rows, which have no numbers, as equally
likely gives them other weights over several releases, and no lemma bounds what comes of it
(`m_invariance.companions` has an example).

**Proof that no sensitive value is told for it.** A lot is a secret of the publisher, and is kept as long as
the principle remembers the person. So the table with parts is a table of people with values, each sensitive
value is one of them, and all that the principle promises holds for it: all assignments of parts being equally
likely, nobody's sensitive value has a probability above 1/m, given everything that would be published of that
table. What is published is a function of that, because parts are made one. A probability of at most 1/m,
averaged over all tables with parts that give the same published tables, is at most 1/m. ∎

Two things have to be seen to. Nobody changes from `none` to `none`. If a person had `none 1` among their
candidates before a change of value, and `none 4` after it, that change could be ruled out, and the others
would be likelier: of {flu, none, none, none} and then {HIV, none, none, none}, flu has 4/7. So parts of one
value count as the same where a new signature is to share no value with earlier ones (`divide`). And a person
who changes to `none` takes a part that is in a signature of theirs, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.buckets.memory import BUCKETS, PEOPLE
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract, Sensitive
from republish.anonymize.contract.sensitive import PART
from republish.anonymize.late import on_first_call
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.principle import Draw, Release
from republish.anonymize.principle.state import State

LOTS = "lots"
"""The state's table of parts that people drew: `pseudonym`, `value`, `part`."""
ROOM = 2
"""A part has at most 1/ROOM of the share that a value may have, so that the table stays eligible by far."""

_keyed_ranks: Callable[..., np.ndarray] = on_first_call("republish.anonymize.people.ranks", "keyed_ranks")
_refuse_unfit: Callable[..., None] = on_first_call("republish.anonymize.people.values", "refuse_unfit")


def split_by_lot(release: Release, largest_share: Callable[[Any], float], *, kept: bool = True) -> Release:
    """Make of a principle's release one for tables in which values that may be known are split.

    The principle publishes what `Sensitive.published` makes of its values. `largest_share` says, from the
    principle's parameters, how much of a group one value may have. Where values come and go, people draw
    their parts anew in each release, and none are `kept`.
    """

    def released(
        people: pl.DataFrame, contract: Contract, state: State, number: int, draw: Draw
    ) -> Candidate:
        sensitive = contract.sensitive
        if not sensitive.not_sensitive:
            return release(people, contract, state, number, draw)
        before = _lots(state, people.schema[VALUE])
        _refuse_unfit(people[VALUE], sensitive, before[VALUE])
        ranks = _keyed_ranks(people[PSEUDONYM], draw("lots"))
        known = before if kept else before.clear()
        parts = _drawn(people, known, state, sensitive, ranks, largest_share(contract.principle))
        drawn = people.select(PSEUDONYM, VALUE, part=parts).filter(sensitive.may_be_known(people[VALUE]))
        split = _with_parts(contract, pl.concat([known["part"], drawn["part"]]))
        candidate = release(people.with_columns(parts.alias(VALUE)), split, state, number, draw)
        hosted = drawn.join(candidate.linkage, on=PSEUDONYM, how="semi") if kept else drawn.clear()
        lots = pl.concat([known, hosted]).unique([PSEUDONYM, VALUE], keep="first").sort(PSEUDONYM, VALUE)
        return _as_published(candidate, lots, sensitive)

    return released


def _lots(state: State, dtype: pl.DataType) -> pl.DataFrame:
    """The lots in a state; none before the first release, for values of a type."""
    none = pl.DataFrame(schema={PSEUDONYM: pl.Binary, VALUE: dtype, "part": pl.String()})
    return state.tables.get(LOTS, none)


def _drawn(
    people: pl.DataFrame,
    lots: pl.DataFrame,
    state: State,
    sensitive: Sensitive,
    ranks: np.ndarray,
    largest_share: float,
) -> pl.Series:
    """String[N]: everybody's value, or the part of it that they had before, or draw now.

    Those who draw among all parts are dealt them in a secret order, so that parts are equally frequent.
    """
    key = [PSEUDONYM, VALUE]
    asked = people.select(*key, rank=pl.Series(ranks), row=pl.int_range(pl.len()))
    asked = asked.join(lots, on=key, how="left", maintain_order="left")
    asked = asked.join(_in_signatures(state, sensitive), on=key, how="left", maintain_order="left")
    among = pl.col("parts").list
    asked = asked.with_columns(pl.coalesce("part", among.get((pl.col("rank") % among.len()).cast(pl.Int64))))
    dealt = [pl.DataFrame(schema={"row": pl.Int64, "dealt": pl.String})]
    for value in sensitive.not_sensitive:
        having = asked.filter(pl.col(VALUE) == value)
        waiting = having.filter(pl.col("part").is_null()).sort("rank")
        needed = ceil(ROOM * having.height / (largest_share * people.height)) if having.height else 1
        parts = max(lots.filter(pl.col(VALUE) == value)["part"].n_unique(), needed)
        number = (pl.col("rank").first() % parts + pl.int_range(pl.len(), dtype=pl.UInt64)) % parts
        dealt.append(waiting.select("row", dealt=_part(value, number)))
    table = asked.join(pl.concat(dealt), on="row", how="left", maintain_order="left")
    return table.select(pl.coalesce("part", "dealt", pl.col(VALUE).cast(pl.String))).to_series()


def _part(value: Any, number: pl.Expr) -> pl.Expr:
    """The text of a part; the first one is called what the value is."""
    whole = pl.lit(str(value))
    return pl.when(number == 0).then(whole).otherwise(pl.concat_str(whole, pl.lit(PART), number))


def _in_signatures(state: State, sensitive: Sensitive) -> pl.DataFrame:
    """`pseudonym`, `value`, `parts` (sorted list): parts in the signatures that people had so far."""
    dtype = pl.Int64 if isinstance(sensitive.not_sensitive[0], int) else pl.String
    if PEOPLE not in state.tables:
        return pl.DataFrame(schema={PSEUDONYM: pl.Binary, VALUE: dtype, "parts": pl.List(pl.String)})
    held = state.tables[BUCKETS].explode("signature")
    parts = held.filter(sensitive.may_be_known(held["signature"]))
    parts = parts.with_columns(sensitive.published(parts["signature"]).alias(VALUE))
    had = state.tables[PEOPLE].select(PSEUDONYM, "bucket_id").join(parts, on="bucket_id")
    return had.group_by(PSEUDONYM, VALUE).agg(parts=pl.col("signature").sort())


def _with_parts(contract: Contract, parts: pl.Series) -> Contract:
    """The contract with parts among the declared values, if values are declared."""
    sensitive = contract.sensitive
    if sensitive.values is None:
        return contract
    values = dict.fromkeys([*map(str, sensitive.values), *parts.unique().sort()])
    return contract.model_copy(update={"sensitive": sensitive.model_copy(update={"values": tuple(values)})})


def _as_published(candidate: Candidate, lots: pl.DataFrame, sensitive: Sensitive) -> Candidate:
    """The candidate with the lots in its state, and with whole values in what is shown of its buckets."""
    buckets, tables = candidate.buckets, candidate.state.tables
    if buckets is not None:
        held = buckets.select("bucket_id", "signature").explode("signature")
        held = held.with_columns(sensitive.published(held["signature"]).alias("signature"))
        whole = held.group_by("bucket_id", maintain_order=True).agg("signature")
        buckets = (
            buckets.drop("signature")
            .join(whole, on="bucket_id", maintain_order="left")
            .select(buckets.columns)
        )
    state = State({**tables, LOTS: lots}) if tables else candidate.state
    return replace(candidate, buckets=buckets, state=state)
