"""A release of groups as an adversary sees it, beside the truth: prepared once, for every attack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.attack.combinations import Combinations, with_parts
from republish.anonymize.attack.copies import guarded, is_copy, numbered
from republish.anonymize.attack.coverage import cover, holds, value_domain
from republish.anonymize.attack.entries import readable_rows
from republish.anonymize.attack.finding import Count
from republish.anonymize.attack.hashes import content_numbers
from republish.anonymize.attack.intersection import intersect_hosts, narrow
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.numbers import Numbers, joined
from republish.anonymize.attack.side_channels import is_canonical
from republish.anonymize.attack.stays import FORMERLY, follow_stays
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryAttribute, Schema
from republish.anonymize.contract.combined import readable
from republish.anonymize.formats import Format, Published
from republish.anonymize.formats.published import GROUP, by_column, knowledge_table
from republish.anonymize.people.codes import encode
from republish.anonymize.people.persons import persons_of

Publish = Callable[[pl.DataFrame, Callable[[str], np.random.Generator]], Mapping[str, pl.DataFrame] | None]
"""From people (`pseudonym`, `qi_0`, …, `value`) and secret randomness by purpose to the published tables of a
first release, in file order; None if it is refused."""


@dataclass(frozen=True)
class Told:
    """What whoever attacks a release is told of it, beside its tables and the truth."""

    linkage: pl.DataFrame | None = None
    """`person`, `group_id` of everybody in the release, if it is known."""
    held_back: int = 0
    """How many people of the snapshot are not in the release on purpose."""
    is_own_format: bool = True
    """Whether the tables must be sorted and numbered as the formats have them."""
    everything: bool = False
    """Whether to attack also what takes long and is not promised."""
    seconds: float = 60.0
    """Time for the equivalence attack."""
    publish: Publish | None = None
    """The algorithm that made the release, where it is known."""


@dataclass(frozen=True)
class TablesInput:
    """The published tables of groups by themselves."""

    schema: Schema
    release_format: Format
    tables: Mapping[str, pl.DataFrame]
    """The published tables by name, in file order, under our own column names, as far as they can be read."""
    people: pl.DataFrame
    """The truth in its own row order: `person` (of an `AttackInput` a number, as in all of its tables),
    `identifier`, `qi_0`, …, `value`."""
    published: Published
    """The same as groups."""
    entries: Count
    """What was found of entries that can't be read."""
    told: Told

    @cached_property
    def orders(self) -> dict[str, list[Any]]:
        """The labels of the columns whose values have an order of their own."""
        return {
            f"{column}{end}": list(qi.labels)
            for column, qi in self.schema.attributes()
            if isinstance(qi, CategoryAttribute)
            for end in ("", "_low", "_high")
        }

    @cached_property
    def disorderly(self) -> list[str]:
        """Tables that are not sorted by all their columns: whatever their order says, it says something."""
        return [name for name, table in self.tables.items() if not is_canonical(table, self.orders)]

    @cached_property
    def main(self) -> pl.DataFrame:
        """The published table that has a row for each tuple."""
        return self.tables[self.release_format.tables(self.schema)[0]]


@dataclass(frozen=True)
class AttackInput(TablesInput):
    """A release of groups as the attacks on it take it."""

    numbers: Numbers
    """The number of each person whom the attack knows."""
    holders: pl.DataFrame
    """`person`, `holder`: the number of the first row of the person to whom each row belongs."""
    numbered: Published
    """The release with numbered tuples of values that may be known (`copies`), in which candidates count."""
    covered: pl.DataFrame
    """The people, as `known`, with their candidate sets by quasi-identifiers, and `promised`."""
    hosts: pl.DataFrame
    """`person`, `group_id`, `promised`: by the linkage, or where just one group covers a person."""
    forged: pl.DataFrame
    """`person` (a number), `group_id` of the counterfeits."""
    before: Knowledge
    knowledge: Knowledge
    """What is known of the release, for the attack on the next one."""
    release: int
    """n, counted from 1."""

    @property
    def is_linked(self) -> bool:
        """Whether hosting groups are known person by person."""
        return self.told.linkage is not None

    @cached_property
    def known(self) -> pl.DataFrame:
        """The truth: `person`, `value`, `qi_0`, … as codes."""
        return self.covered.select("person", VALUE, *(column for column, _ in self.schema.attributes()))

    @cached_property
    def values(self) -> pl.Series:
        """Every sensitive value so far, in the order of the bits."""
        assert self.knowledge.domain is not None  # it is known from the first release on
        return self.knowledge.domain[VALUE]

    def known_to_readers(self, values: pl.Series) -> pl.Series:
        """Boolean[V]: the values that are declared, or that a release had so far.

        An adversary who has no table counts no value that only a table has.
        """
        published = self.knowledge.followed.signatures["values"].explode().drop_nulls()
        return readable(values, published, self.schema.sensitive)

    def excused(self, convicted: pl.DataFrame) -> int:
        """Of how many of these people (`person`) nobody can tell that they are in the groups attacked.

        Without the linkage, a group may cover by chance somebody who is held back. It is as many as may be.
        """
        return self.knowledge.by_chance(convicted["person"])

    @cached_property
    def hosted(self) -> pl.DataFrame:
        """The people whose group is known: the columns of `known`, `group_id`, `promised`."""
        return joined(self.known, self.hosts)

    @cached_property
    def carried(self) -> pl.DataFrame:
        """The tuples of each value in each group, and the people there who truly have it."""
        return carried(self.published, self.hosted, self.values)

    @cached_property
    def combinations(self) -> Combinations | None:
        """The values that combinations are made of, where there are several sensitive columns."""
        return Combinations.of(self.knowledge.domain)

    @cached_property
    def guarded(self) -> pl.DataFrame:
        """The rows of `groups` that are of groups with a sensitive value: nothing is promised of others."""
        return self.groups.join(guarded(self.published, self.schema.sensitive), on="group_id", how="semi")

    @cached_property
    def owed(self) -> pl.DataFrame:
        """`group_id`, `promised`, `people`: how many people of each group are judged by which promise."""
        return self.hosts.group_by("group_id", "promised").agg(people=pl.len().cast(pl.Int64))

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A row for each group: what it holds, and for whom.

        `group_id`, `tuples` (rows of the main table), `stated` (tuples of its values), `values` (distinct
        ones), `fewest` and `most` (tuples of a value), `count` (counterfeits by R(n)), `people`, `newcomers`
        (people who never had its signature before). Of several sensitive columns, `values` is of that with
        the fewest, and `most` of that with the most tuples of a value.
        """
        each = [
            values.group_by("group_id").agg(
                stated=pl.col("tuples").sum().cast(pl.Int64),
                values=pl.col(VALUE).n_unique().cast(pl.Int64),
                fewest=pl.col("tuples").min().cast(pl.Int64),
                most=pl.col("tuples").max().cast(pl.Int64),
            )
            for values in by_column(self.numbered.values, self.schema.sensitive)
        ]
        held = each[0]
        if len(each) > 1:
            held = (
                pl.concat(each)
                .group_by("group_id")
                .agg(pl.col("stated").first(), pl.col("values", "fewest").min(), pl.col("most").max())
            )
        rows = self.main.group_by(GROUP).agg(tuples=pl.len().cast(pl.Int64))
        people = pl.col("people")
        newcomers = people.filter(pl.col("promised") == self.release).sum()
        hosted = self.owed.group_by("group_id").agg(people.sum(), newcomers=newcomers)
        for other in (rows, self.published.counterfeits, hosted):
            held = held.join(other, on="group_id", how="full", coalesce=True)
        return held.fill_null(0).sort("group_id")


def carried(published: Published, hosted: pl.DataFrame, values: pl.Series) -> pl.DataFrame:
    """Count `tuples`, and `people` by their true values, for each `group_id` and `value` that has either.

    The pairs are numbered by every sensitive value there is, because joining them takes four times as long.
    """
    position = pl.col(VALUE).replace_strict(values, range(len(values)), default=None, return_dtype=pl.Int64)
    number = (pl.col("group_id").cast(pl.Int64) * len(values) + position).alias("pair")
    numbered_pairs = published.values.select(number).with_row_index("row").drop_nulls()
    row = joined(hosted.select(number), numbered_pairs, on="pair", how="left")["row"]
    people = pl.Series(np.bincount(row.drop_nulls().to_numpy(), minlength=len(published.values)))
    held = published.values.with_columns(pl.col("tuples").cast(pl.Int64), people=people)
    others = hosted.filter(row.is_null()).group_by("group_id", VALUE).agg(people=pl.len().cast(pl.Int64))
    return pl.concat([held, others.with_columns(tuples=pl.lit(0, pl.Int64)).select(held.columns)])


def prepare_groups(
    schema: Schema,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    release: int,
    before: Knowledge,
    told: Told,
    *,
    again: bool,
    whole_buckets: bool,
) -> AttackInput:
    """Prepare what the attacks on a release of groups have in common; arguments as those of `attack`.

    `again` is whether people who were published may be held back later, `whole_buckets` whether each bucket
    is one group.
    """
    domain = None if before.domain is None else before.domain[VALUE]
    tables, entries = _readable(tables, release_format, schema, domain)
    numbers = Numbers(people["person"])
    people, linkage = numbers.numbered(people), told.linkage
    if linkage is not None:
        linkage = numbers.numbered(linkage)
    before = before.with_persons(numbers.numbered)
    published, known = release_format.read(tables, schema), knowledge_table(people, schema)
    with_copies = numbered(published, schema.sensitive)
    values = value_domain(with_copies.values[VALUE], known[VALUE], known=domain)
    covered = cover(known, with_copies, values)
    can_be_in = covered
    if linkage is None and told.held_back:
        # Of people who are held back on purpose, those whom no group with their value covers are known.
        can_be_in = covered.filter(holds(covered, VALUE, values))
    hosts = _hosts(can_be_in, linkage)
    forged = forged_tuples(with_copies, known, hosts, release_format, tables, schema, release)
    present = joined(known.select("person", VALUE), hosts)
    stays = follow_stays(
        present, forged, with_copies.values, release, before.stays, whole_buckets=whole_buckets
    )
    after = replace(before, domain=with_parts(values, schema.sensitive), stays=stays)
    holders = _holders(numbers, schema)
    since = _promised_since(covered, after, release, holders, is_linked=linkage is not None)
    since = joined(covered.select("person", VALUE), since, how="left")
    # Nothing is promised to people whose value may be known.
    is_owed = ~schema.sensitive.may_be_known(since[VALUE])
    since = since.select("person", promised=pl.when(is_owed).then(pl.col("promised").fill_null(release)))
    covered, hosts = (joined(table, since, how="left") for table in (covered, hosts))
    if linkage is None:
        in_release = joined(covered, can_be_in, how="semi")
        unknown = max(0, told.held_back - (len(covered) - len(in_release)))
        after = _with_held_back(after, unknown, in_release, release, before, again=again)
    else:
        in_release = joined(covered, hosts, how="semi")
        hosted = joined(known, since)
        after = replace(
            after,
            hosted=intersect_hosts(
                hosted, hosts.drop("promised"), with_copies, values, release, before.hosted
            ),
        )
    return AttackInput(
        schema=schema,
        release_format=release_format,
        tables=tables,
        published=published,
        numbered=with_copies,
        people=people,
        numbers=numbers,
        holders=holders,
        covered=covered,
        hosts=hosts,
        entries=entries,
        told=replace(told, linkage=linkage),
        forged=forged,
        before=before,
        knowledge=replace(after, covered=narrow(in_release, release, before.covered)),
        release=release,
    )


def prepare_tables(
    schema: Schema,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    domain: pl.Series | None,
) -> tuple[TablesInput, pl.Series]:
    """Prepare the tables of a release in our own format, for what can be said of these alone.

    The domain has every sensitive value of the releases before, in the order of the bits; it is returned with
    this release's values.
    """
    tables, entries = _readable(tables, release_format, schema, domain)
    published = release_format.read(tables, schema)
    values = numbered(published, schema.sensitive).values[VALUE]
    domain = value_domain(values, people[VALUE], known=domain)
    return TablesInput(schema, release_format, tables, people, published, entries, Told()), domain


def _readable(
    tables: Mapping[str, pl.DataFrame], release_format: Format, schema: Schema, domain: pl.Series | None
) -> tuple[dict[str, pl.DataFrame], Count]:
    """The rows that can be read under our own column names, and the count of others."""
    tables = {name: table.with_columns(GROUP) for name, table in tables.items()}
    tables = release_format.internal(tables, schema)
    earlier = [] if domain is None else domain.filter(~is_copy(domain)).to_list()
    return readable_rows(tables, release_format, schema, earlier)


def _hosts(covered: pl.DataFrame, linkage: pl.DataFrame | None) -> pl.DataFrame:
    """`person`, `group_id`: by the linkage, or where just one group covers a person."""
    if linkage is None:
        return covered.filter(pl.col("group_id").is_not_null()).select("person", "group_id")
    return joined(covered.select("person"), linkage.select("person", GROUP))


def _with_held_back(
    knowledge: Knowledge,
    people: int,
    in_release: pl.DataFrame,
    release: int,
    before: Knowledge,
    *,
    again: bool,
) -> Knowledge:
    """The knowledge after a release that held people back, of whom nobody knows who they are.

    A person who waits does so since they came, or since their value changed, unless people who were published
    may be held back later. So whoever was there before with the same value, and may have been published, did
    not begin to wait in this release.
    """
    begun = in_release.select("person", VALUE)
    if not again and before.covered is not None:
        earlier = before.covered.filter(pl.col("until") == release - 1)
        begun = joined(begun, earlier, on=["person", VALUE], how="anti")
    number = pl.lit(release, pl.Int32)
    begun = begun.head(len(begun) if people else 0).select("person", release=number)
    row = pl.select(release=number, people=pl.lit(people, pl.Int64))
    if before.held_back is not None and before.waiting is not None:
        row, begun = pl.concat([before.held_back, row]), pl.concat([before.waiting, begun])
    return replace(knowledge, held_back=row, waiting=begun)


def _promised_since(
    covered: pl.DataFrame,
    knowledge: Knowledge,
    release: int,
    holders: pl.DataFrame,
    *,
    is_linked: bool,
) -> pl.DataFrame:
    """`person`, `promised`: the release in which each person got the promise they are judged by.

    A signature is kept for good, and so is what was promised when a person got it. Where groups are known, it
    is the first stay in the present signature. Where they are not, it is the first time the person had the
    present value, or had it among their candidate values. Where people have several rows, it is any row's
    of the holder, since all with one value have one signature.
    """
    if is_linked:
        stays = joined(knowledge.followed.people, holders)
        here = stays.filter(pl.col("until") == release).select("holder", "signature", "person")
        first = joined(stays.select("holder", "signature", "since"), here, on=["holder", "signature"])
        return first.group_by("person").agg(pl.col("since").min().alias("promised"))
    if knowledge.covered is None:
        return covered.select("person", pl.lit(release, pl.Int32).alias("promised"))
    assert knowledge.domain is not None  # it is known from the first release on
    now = joined(covered.select("person", now=VALUE), holders)
    earlier = joined(joined(knowledge.covered, holders).drop("person"), now, on="holder")
    earlier = earlier.with_columns(holds(earlier, "now", knowledge.domain[VALUE])).filter(
        (pl.col(VALUE) == pl.col("now")) | pl.col("holds")
    )
    return earlier.group_by("person").agg(pl.col("promised").min())


def _holders(numbers: Numbers, schema: Schema) -> pl.DataFrame:
    """`person`, `holder` of everybody whom the attack knows."""
    if schema.rows == "one":
        return numbers.names.to_frame("holder").with_row_index("person").with_columns(holder="person")
    rows = persons_of(numbers.names).to_frame("holder").with_row_index("person")
    return rows.with_columns(holder=pl.col("person").min().over("holder"))


def forged_tuples(
    published: Published,
    known: pl.DataFrame,
    hosts: pl.DataFrame,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    schema: Schema,
    release: int,
) -> pl.DataFrame:
    """`group_id`, `person`, `FORMERLY` of counterfeits: one per release, or while quasi-identifiers stay."""
    vector = [column for column in release_format.counterfeit_key(schema) if column != VALUE]
    if not vector:
        each = published.counterfeits.select("group_id", pl.int_ranges(pl.col("count")).alias("copy"))
        each = each.explode("copy").drop_nulls()
        return _numbered(each.with_columns(release=release), ["release", "group_id", "copy"])
    main = tables[release_format.tables(schema)[0]]
    encoded = [encode(pl.col(column), qi).alias(column) for column, qi in schema.attributes()]
    real = joined(known, hosts).group_by("group_id", *vector).len("people")
    forged = (
        main.select("group_id", *encoded)
        .group_by("group_id", *vector)
        .len("rows")
        .join(real, on=["group_id", *vector], how="left", nulls_equal=True)
        .with_columns(
            pl.int_ranges(pl.col("rows").cast(pl.Int64) - pl.col("people").fill_null(0)).alias("copy")
        )
        .explode("copy")
        .drop_nulls("copy")
    )
    return _numbered(forged, [*vector, "copy"])


def _numbered(forged: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    return forged.select(
        "group_id", content_numbers(forged.select(key)), pl.struct(key).hash(2).alias(FORMERLY)
    )
