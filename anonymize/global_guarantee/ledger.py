"""The ledger: per person and value, what the releases so far have spent of the budget.

Only a release whose group holds a value spends anything on it (Lemma 5.1), so a row of the ledger is a link:
a person, and a value that some group of theirs held. Nobody pays for values they were never near. People who
leave stay in the ledger, because they may return.

Wong, Fu, Liu, Wang and Xu, Preserving individual privacy in serial data publishing, Lemmas 4.2 and 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.global_guarantee.strategy import Strategy, admitted_share, budget, spending
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.ledger import post
from republish.anonymize.kernels.read_only import read_only
from republish.anonymize.people.persons import persons_of
from republish.anonymize.principle.state import State
from republish.anonymize.rounding import FEW_STEPS

PEOPLE_SCHEMA = {PSEUDONYM: pl.Binary, "l": pl.Int32, "last_seen": pl.Int32, "rows": pl.Int32}
LINKS_SCHEMA = {"person": pl.Int32, "value_id": pl.Int32, "spent": pl.Float64}


@dataclass(frozen=True)
class Ledger:
    """The memory that a series has of the people it published."""

    people: pl.DataFrame
    """`pseudonym`, `l` (of the strictest promise they were ever published under), `last_seen` (the number of
    the last release they were in the table for, placed or held back), `rows` (those of that release which
    could be placed). A person's row keeps its position."""
    links: pl.DataFrame
    """`person` (row in `people`), `value_id` (row in `values`), `spent` (of -ln(1 - 1/l)); sorted."""
    values: pl.DataFrame
    """`value`, `tuples` in the last release that had any: what the next one is expected to be like."""
    number: int
    """n of the last release."""

    @classmethod
    def of(cls, state: State, dtype: pl.DataType) -> Ledger:
        """The ledger in a state; empty before the first release, for sensitive values of a type."""
        tables = state.tables
        people = tables.get("people", pl.DataFrame(schema=PEOPLE_SCHEMA))
        if "rows" not in people.columns:  # older versions noted no rows of people who have one each
            people = people.with_columns(rows=pl.lit(1, pl.Int32))
        return cls(
            people=people,
            links=tables.get("links", pl.DataFrame(schema=LINKS_SCHEMA)),
            values=tables.get("values", pl.DataFrame(schema={VALUE: dtype, "tuples": pl.Int64})),
            number=tables["release"]["number"].item() if tables else 0,
        )

    def state(self) -> State:
        """The state for the next release."""
        release = pl.DataFrame({"number": [self.number]}, schema={"number": pl.Int32})
        return State({"people": self.people, "links": self.links, "values": self.values, "release": release})

    @cached_property
    def first(self) -> Ints:
        """int64[P + 1]: the links of person i are `first[i] : first[i + 1]`."""
        links = np.bincount(self.links["person"].to_numpy(), minlength=self.people.height)
        return np.concatenate([[0], np.cumsum(links)]).astype(np.int64)

    def accounts(self, pseudonyms: pl.Series, strategy: Strategy, l: int, rows: Ints) -> Accounts:
        """Look up what each of N rows of T(n) admits of its next group.

        Its person has so many `rows` (int64[N]), among which a release's allowance is divided.

        A person's budget is that of the strictest promise they were published under, or of today's l if that
        is stricter: a promise is never weakened for people who were given it.
        """
        account = _rows(self.people, persons_of(pseudonyms))
        promised = np.append(np.maximum(self.people["l"].to_numpy(), l), l)
        whole = budget(promised)
        most = strategy.allowance(np.zeros(len(whole)), whole)
        of_link = slice(0, 1) if (promised == l).all() else self.links["person"].to_numpy()
        allowance = strategy.allowance(self.links["spent"].to_numpy(), whole[of_link])
        # Most links admit as much as none; only the others are looked at again and again.
        binds = np.flatnonzero(allowance < most[of_link] * (1 - FEW_STEPS))
        first = np.searchsorted(binds, np.append(self.first, self.first[-1]))
        entries = np.ones(len(promised), np.int64)
        entries[account] = rows
        bound = allowance[binds] / entries[self.links["person"].to_numpy()[binds]]
        return Accounts(
            first=first[account],
            last=first[account + 1],
            link_value=self.links["value_id"].to_numpy()[binds],
            link_share=admitted_share(bound),
            largest=admitted_share(most[account] / rows),
            account=account,
        )

    def after(
        self,
        people: pl.DataFrame,
        group: Ints,
        value_id: Ints,
        values: pl.Series,
        number: int,
        l: int,
        sensitive: Sensitive,
        layer: Ints,
        rows: Ints,
    ) -> Ledger:
        """The ledger after release n, `number`.

        Parameters
        ----------
        people
            T(n): `pseudonym`.
        group
            int64[N]: the group that hosts each person, 0, 1, …, or -1 for people who are held back.
        value_id
            int32[N]: the sensitive value of each person, a position in `values`.
        values
            The sensitive values: those of the ledger, and new ones after them.
        l
            The contract's, which everybody hosted is promised from now on.
        sensitive
            Which values may be known. Nothing is spent on them.
        layer, rows
            int64[N]: what `deal` returned. No layer has a person twice.
        """
        hosted = group >= 0
        if not hosted.any():
            return replace(self, people=self._seen(people[PSEUDONYM], hosted, number, l, rows), number=number)
        known, kept = self._values_after(value_id[hosted], values)
        exempt = sensitive.may_be_known(known[VALUE]).to_numpy()
        register = self._seen(people[PSEUDONYM], hosted, number, l, rows)
        account = _rows(register, persons_of(people[PSEUDONYM]))
        new = register.height - self.people.height
        first = np.append(self.first, np.full(new, self.first[-1]))
        value, spent = (read_only(self.links[column].to_numpy()) for column in ("value_id", "spent"))
        spendings = _spendings(group[hosted], kept[value_id[hosted]], known.height, exempt)
        for one in range(layer.max() + 1):
            posted = hosted & (layer == one)
            of_account = np.full(register.height, -1, np.int64)
            of_account[account[posted]] = group[posted]
            first, value, spent = post(first, value, spent, of_account, *spendings)
        person = np.repeat(np.arange(register.height, dtype=np.int32), np.diff(first))
        links = pl.DataFrame({"person": person, "value_id": value, "spent": spent}, schema=LINKS_SCHEMA)
        return Ledger(people=register, links=links, values=known, number=number)

    def forget(self, after: int | None) -> Ledger:
        """The ledger without people who were absent from the last `after` releases; with all, if it is None.

        What this gives up: somebody who returns afterwards has a whole budget again. Over f + 1 stays with
        forgetting in between, the probability of ever having had a value is at most 1 - (1 - 1/l)^(f + 1).
        """
        if after is None:
            return self
        stays = (pl.col("last_seen") > self.number - after).alias("stays")
        keep = self.people.select(stays)["stays"]
        if keep.all():
            return self
        position = pl.Series(np.cumsum(keep.to_numpy()) - 1, dtype=pl.Int32)
        person = self.links["person"]
        return replace(
            self,
            people=self.people.filter(keep),
            links=self.links.with_columns(person=position.gather(person)).filter(keep.gather(person)),
        )

    def _seen(
        self, pseudonyms: pl.Series, hosted: np.ndarray, number: int, l: int, rows: Ints
    ) -> pl.DataFrame:
        """`people` after a release: who was in the table, and what everybody hosted was promised."""
        today = pl.DataFrame({PSEUDONYM: persons_of(pseudonyms), "hosted": hosted, "now": rows})
        today = today.group_by(PSEUDONYM, maintain_order=True).agg(
            pl.col("hosted").any(), pl.col("now").first().cast(pl.Int32)
        )
        seen = pl.lit(number, pl.Int32)
        known = self.people.join(today, on=PSEUDONYM, how="left", maintain_order="left").select(
            PSEUDONYM,
            pl.when("hosted").then(pl.max_horizontal("l", pl.lit(l, pl.Int32))).otherwise("l").alias("l"),
            pl.when(pl.col("hosted").is_not_null()).then(seen).otherwise("last_seen").alias("last_seen"),
            pl.coalesce("now", "rows").alias("rows"),
        )
        new = today.filter("hosted").join(self.people, on=PSEUDONYM, how="anti", maintain_order="left")
        new = new.select(PSEUDONYM, l=pl.lit(l, pl.Int32), last_seen=seen, rows="now")
        return pl.concat([known, new])

    def _values_after(self, value_id: np.ndarray, values: pl.Series) -> tuple[pl.DataFrame, np.ndarray]:
        """`values` after a release, and the row of each value in it; values that nobody placed has get none.

        A value that only people who are held back have is not remembered: nothing is read of them.
        """
        tuples = np.bincount(value_id, minlength=len(values))
        is_known = (tuples > 0) | (np.arange(len(values)) < self.values.height)
        known = pl.DataFrame({VALUE: values.filter(is_known), "tuples": tuples[is_known]})
        return known.cast({"tuples": pl.Int64}), (np.cumsum(is_known) - 1).astype(np.int32)


def _rows(register: pl.DataFrame, pseudonyms: pl.Series) -> Ints:
    """int64[N]: the row of each person in the ledger's `people`, -1 for people who are not in it."""
    known = register.select(PSEUDONYM).with_row_index("account")
    found = pseudonyms.to_frame(PSEUDONYM).join(known, on=PSEUDONYM, how="left", maintain_order="left")
    return found["account"].cast(pl.Int64).fill_null(-1).to_numpy()


def _spendings(
    group: np.ndarray, value_id: np.ndarray, values: int, exempt: np.ndarray
) -> tuple[np.ndarray, ...]:
    """List what each group spends on its values: `group_first`, `group_value`, `group_spends`."""
    tuples = np.bincount(group)
    held, count = np.unique(group * values + value_id, return_counts=True)
    held, count = (one[~exempt[held % values]] for one in (held, count))
    in_group = held // values
    group_first = np.searchsorted(in_group, np.arange(len(tuples) + 1))
    return group_first, (held % values).astype(np.int32), spending(count / tuples[in_group])
