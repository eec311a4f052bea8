"""Every attack that is affordable release by release, with what an adversary remembers in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from anonymize.attack import finding as fi
from anonymize.attack.breach import breach_figures, breach_probability, forget_absent, link_probabilities
from anonymize.attack.coverage import cover, holds, value_domain
from anonymize.attack.cuts import cuts
from anonymize.attack.entries import readable_rows
from anonymize.attack.equivalence import compromised
from anonymize.attack.exposure import exposed_by_counterfeits
from anonymize.attack.finding import finding
from anonymize.attack.intersection import (
    candidates,
    changed,
    distribution,
    intersect_hosts,
    intersection_figures,
    narrow,
)
from anonymize.attack.invariance import Invariance, check_invariance, moved_people
from anonymize.attack.knowledge import Knowledge, promised
from anonymize.attack.stays import follow_stays, followed_counterfeits
from anonymize.attack.tables import attack_tables
from anonymize.columns import VALUE
from anonymize.contract import Schema
from anonymize.formats import Format, Published
from anonymize.formats.published import GROUP, knowledge_table
from anonymize.people.codes import encode
from anonymize.promise.promise import Promise

GROUPS_PER_RELEASE = 10**9
"""Partitions of different releases have different numbers: release x this + group_id."""


@dataclass(frozen=True)
class ReleaseAttack:
    """What the attacks on one release, and on all before it, came to."""

    findings: pl.DataFrame
    """One row per promise: `promise`, `people`, `broken`, `undecided`, `found`, `required`, `holds`."""
    figures: dict[str, int | float | None]
    """Counts and extremes worth plotting over releases; nothing of any one person."""
    distribution: pl.DataFrame
    """`candidates`, `people`: the people of this release by the values an adversary is left with."""
    knowledge: Knowledge
    """To be given to the attack on the next release."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What was counted beside it, by the name of the check that judges it: `cuts`."""

    @property
    def holds(self) -> bool:
        """Whether no promise is broken."""
        return bool(self.findings["holds"].all())


def attack_release(
    schema: Schema,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    promises: Sequence[Promise],
    knowledge: Knowledge | None = None,
    *,
    linkage: pl.DataFrame | None = None,
    held_back: int = 0,
    is_own_format: bool = True,
    everything: bool = False,
    seconds: float = 60.0,
) -> ReleaseAttack:
    """Attack a release with everything known of the releases before it.

    Parameters
    ----------
    schema
        The columns and their roles.
    release_format
        How the release is published.
    tables
        The published tables by name, in file order.
    people
        The truth T(n) in the snapshot's row order: `person` (what tells people apart over releases),
        `identifier`, `qi_0`, … in their own types, `value`.
    promises
        What each release so far promised to the people it published first, release 1 first. Everybody is
        judged by what they were promised; a part that is None is a figure, and can't be broken.
    knowledge
        What the attack on release n - 1 returned; None for the first.
    linkage
        What only the publisher has: `person`, `group_id` of everybody in the release. With it, hosting
        groups are checked person by person; without it they are those that coverage settles.
    held_back
        How many people of the snapshot are not in the release on purpose.
    is_own_format
        Whether the tables must be sorted and numbered as the formats have them: row by row that is certain.
        Another tool's tables need not be; their order is tested against orders that are known.
    everything
        Whether to attack equivalence and breach probability also where neither is promised: memberships
        and probabilities are remembered, as figures.
    seconds
        Time for the equivalence attack, where it is promised and everything is attacked.
    """
    release, promise = len(promises), promises[-1]
    remembered = knowledge or Knowledge()
    tables = release_format.internal(
        {name: table.with_columns(GROUP) for name, table in tables.items()}, schema
    )
    earlier = () if remembered.domain is None else remembered.domain[VALUE].to_list()
    tables, entries = readable_rows(tables, release_format, schema, earlier)
    published = release_format.read(tables, schema)
    known = knowledge_table(people, schema)
    values = value_domain(
        published.values[VALUE],
        known[VALUE],
        known=None if remembered.domain is None else remembered.domain[VALUE],
    )
    before = remembered
    remembered = replace(remembered, domain=values.to_frame(VALUE))
    covered = cover(known, published, values)
    is_linked = linkage is not None
    hosts = _hosts(covered, linkage)
    evidence: dict[str, pl.DataFrame] = {}
    if is_linked or everything:
        forged = _forged(published, known, hosts, release_format, tables, schema, release)
        remembered = _with_stays(remembered, published, known, hosts, forged, release)
        if is_linked and promise.equivalence is not None:
            evidence["cuts"] = cuts(remembered.stays, release, 2 * (promise.equivalence - 1) + 1)

    since = _promised_since(covered, remembered, release, is_linked=is_linked)
    covered = covered.join(since, on="person", how="left", maintain_order="left").with_columns(
        pl.col("promised").fill_null(release)
    )
    in_release = _in_release(covered, hosts, held_back, is_linked=is_linked)
    remembered = replace(remembered, covered=narrow(in_release, release, remembered.covered))
    if not is_linked:
        remembered = replace(remembered, held_back=_held_back(before.held_back, release, held_back))
    by_chance = 0 if is_linked else int(remembered.held_back["people"].sum())
    owed = hosts.join(since, on="person", how="left").with_columns(pl.col("promised").fill_null(release))
    remembered, signatures = _signatures(
        remembered, before, known, owed, published, promises, by_chance, is_linked=is_linked
    )
    main, *_ = release_format.tables(schema)
    unequal = _unequal_groups(tables[main], published)
    rows = [
        entries,
        *_publication(covered, published, hosts, values, held_back, unequal, is_linked=is_linked),
        *_shares(published, owed, promises),
        *_candidates(fi.CANDIDATES, remembered.covered, promises, by_chance),
        *signatures,
        *attack_tables(release_format, tables, schema, people, hosts, is_own_format=is_own_format),
    ]
    if is_linked:
        hosted = intersect_hosts(
            known.join(since, on="person"), hosts, published, values, release, remembered.hosted
        )
        remembered = replace(remembered, hosted=hosted)
        rows += [
            *_candidates(fi.HOST_CANDIDATES, remembered.hosted, promises),
            *_changes(remembered.hosted, promises),
        ]
    if promise.breach_probability is not None or everything:
        links = link_probabilities(hosts, published.values)
        remembered = replace(remembered, breach=_followed(links, remembered.breach, release))
        rows += breach_findings(remembered.breach, promises)
        if promise.forgets_after is not None:
            kept = forget_absent(remembered.breach, known.select("person"), release, promise.forgets_after)
            remembered = replace(remembered, breach=kept)
    if everything:
        remembered = _follow(remembered, published, known, hosts, forged, release)
        rows += equivalence_findings(remembered, promises, seconds)
    figures = {}
    if promise.largest_share is not None:
        figures["exposed"] = exposed_by_counterfeits(published, promise.largest_share)
    return _conclude(pl.concat(rows), remembered, covered, hosts, evidence, figures)


def _hosts(covered: pl.DataFrame, linkage: pl.DataFrame | None) -> pl.DataFrame:
    """`person`, `group_id`: by the linkage, or where just one group covers a person."""
    if linkage is None:
        return covered.filter(pl.col("group_id").is_not_null()).select("person", "group_id")
    return covered.select("person").join(linkage.select("person", GROUP), on="person")


def _with_stays(
    knowledge: Knowledge,
    published: Published,
    known: pl.DataFrame,
    hosts: pl.DataFrame,
    forged: pl.DataFrame,
    release: int,
) -> Knowledge:
    """The knowledge with the stays of everybody in the release, whose groups are known."""
    present = known.select("person", VALUE).join(hosts, on="person")
    return replace(knowledge, stays=follow_stays(present, forged, published.values, release, knowledge.stays))


def _promised_since(
    covered: pl.DataFrame, knowledge: Knowledge, release: int, *, is_linked: bool
) -> pl.DataFrame:
    """`person`, `promised`: the release in which each person got the promise they are judged by.

    A signature is kept for good, and so is what was promised when a person got it. Where groups are known, it
    is the first stay in the present signature. Where they are not, it is the first time the person had the
    present value, or had it among their candidate values.
    """
    if is_linked:
        here = knowledge.stays.people.filter(pl.col("until") == release).select("person", "signature")
        first = knowledge.stays.people.join(here, on=["person", "signature"], how="semi")
        return first.group_by("person").agg(pl.col("since").min().alias("promised"))
    if knowledge.covered is None:
        return covered.select("person", pl.lit(release, pl.Int32).alias("promised"))
    earlier = knowledge.covered.join(covered.select("person", now=VALUE), on="person")
    earlier = earlier.with_columns(holds(earlier, "now", knowledge.domain[VALUE])).filter(
        (pl.col(VALUE) == pl.col("now")) | pl.col("holds")
    )
    return earlier.group_by("person").agg(pl.col("promised").min())


def _held_back(before: pl.DataFrame | None, release: int, people: int) -> pl.DataFrame:
    """How many people each release so far held back."""
    row = pl.DataFrame({"release": [release], "people": [people]})
    return row if before is None else pl.concat([before, row])


def _signatures(
    knowledge: Knowledge,
    before: Knowledge,
    known: pl.DataFrame,
    owed: pl.DataFrame,
    published: Published,
    promises: Sequence[Promise],
    by_chance: int,
    *,
    is_linked: bool,
) -> tuple[Knowledge, list[pl.DataFrame]]:
    """Whether people whose groups are known stay in groups of one signature, as large as promised.

    Of people who are held back and covered by one group by chance, nobody can tell that the group isn't
    theirs. As many people as were held back so far are counted as undecided.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 17.
    """
    release = len(promises)
    least = owed.with_columns(promised(promises, "candidates").alias("least")).drop_nulls("least")
    if all(promise.candidates is None for promise in promises) or owed.is_empty():
        return replace(knowledge, signatures=None), []
    people = known.join(least.select("person"), on="person", how="semi")
    if is_linked:
        # The stays have everybody's signature as a number, which is quicker to compare and kept anyhow.
        found, _ = check_invariance(people.clear(), least, published, 1)
        moved = len(moved_people(knowledge.stays, before.stays, release).join(least, on="person", how="semi"))
    else:
        found, kept = check_invariance(people, least, published, 1, before.signatures)
        moved, knowledge = found.moved, replace(knowledge, signatures=kept)
    sizes = published.values.group_by("group_id").agg(pl.col(VALUE).n_unique().alias("values"))
    hosted = least.join(sizes, on="group_id")
    too_few = len(hosted.filter(pl.col("values") < pl.col("least")))
    broken = moved + too_few
    undecided = min(broken, by_chance)
    irregular = _irregular(found, promises[-1])
    smallest, most = hosted["values"].min(), least["least"].max()
    row = finding(fi.SIGNATURES, len(least), broken - undecided + irregular, smallest, most, undecided)
    return knowledge, [row]


def _irregular(found: Invariance, promise: Promise) -> int:
    """Groups that don't hold each value once, or all values equally often, where that is promised."""
    return {"unique": found.repeating, "even": found.uneven, None: 0}[promise.signatures]


def _unequal_groups(main: pl.DataFrame, published: Published) -> int:
    """Rows of the main table that are too many or missing in their groups, by the values that these hold."""
    rows = main.group_by(GROUP).len("rows").join(published.sizes, on="group_id", how="full", coalesce=True)
    difference = pl.col("rows").cast(pl.Int64).fill_null(0) - pl.col("size").cast(pl.Int64).fill_null(0)
    return rows.select(difference.abs().sum()).item()


def equivalence_findings(
    knowledge: Knowledge, promises: Sequence[Promise], seconds: float
) -> list[pl.DataFrame]:
    """Whether nobody takes part in an equivalence attack smaller than what they were promised.

    What there was no time to decide is stated apart: the clock does not change what is broken.
    """
    levels = sorted({promise.equivalence for promise in promises} - {None})
    if not levels:
        return []
    first = knowledge.members.group_by("person").agg(
        (pl.col("partition").min() // GROUPS_PER_RELEASE).alias("promised")
    )
    owed = first.with_columns(promised(promises, "equivalence").alias("e"))
    broken = undecided = 0
    for e in levels:
        found = compromised(knowledge.members, knowledge.contents, e, seconds=seconds)
        to_whom = owed.filter(pl.col("e") == e)
        broken += to_whom.join(found.people, on="person", how="semi").height
        undecided += to_whom.join(found.undecided, on="person", how="semi").height
    return [finding(fi.EQUIVALENCE, first.height, broken, None, levels[-1], undecided)]


def breach_findings(state: pl.DataFrame, promises: Sequence[Promise]) -> list[pl.DataFrame]:
    """Whether nobody's breach probability is above what they were promised."""
    owed = state.with_columns(promised(promises, "breach_probability").alias("most"))
    if owed["most"].null_count() == owed.height:
        return []
    # Products of shares such as 1/3 round; a promise kept with equality is kept.
    above = owed.filter(pl.col("breach") > pl.col("most") + 1e-9)["person"].n_unique()
    return [finding(fi.BREACH, owed["person"].n_unique(), above, owed["breach"].max(), owed["most"].min())]


def _followed(links: pl.DataFrame, before: pl.DataFrame | None, release: int) -> pl.DataFrame:
    """Breach probabilities after one more release, each with the release that first published the person."""
    now = links.select("person").unique().with_columns(promised=pl.lit(release, pl.Int32))
    known = now if before is None else pl.concat([now, before.select("person", "promised")])
    since = known.group_by("person").agg(pl.col("promised").min())
    if before is None:
        return breach_probability(links).join(since, on="person")
    after = breach_probability(links, before.select("person", "value", "breach")).join(since, on="person")
    if "last_seen" not in before.columns:
        return after
    return after.join(before.select("person", "last_seen").unique(), on="person", how="left")


def _in_release(
    covered: pl.DataFrame, hosts: pl.DataFrame, held_back: int, *, is_linked: bool
) -> pl.DataFrame:
    """The people whom the release is about; those held back have no candidate values in it."""
    if is_linked:
        return covered.join(hosts.select("person"), on="person", how="semi")
    return covered.filter(pl.col("groups") > 0) if held_back else covered


def _publication(
    covered: pl.DataFrame,
    published: Published,
    hosts: pl.DataFrame,
    values: pl.Series,
    held_back: int,
    unequal: int,
    *,
    is_linked: bool,
) -> list[pl.DataFrame]:
    """Coverage, counts, and hosting groups person by person."""
    tuples = published.values["tuples"].sum() - (published.counterfeits["count"].sum() or 0)
    excess = max(unequal, abs(tuples - (len(covered) - held_back)))
    if not is_linked:
        astray = int((~holds(covered, VALUE, values)).sum())
        return [
            finding(fi.COVERAGE, len(covered), max(0, astray - held_back)),
            finding(fi.COUNTS, len(covered), excess),
        ]
    present = covered.join(hosts.rename({"group_id": "host"}), on="person", how="inner")
    astray = int((~holds(present, VALUE, values)).sum())
    misplaced = _misplaced(present, published)
    missing = abs(len(covered) - held_back - len(hosts))
    return [
        finding(fi.COVERAGE, len(covered), astray),
        finding(fi.COUNTS, len(covered), max(excess, missing)),
        finding(fi.HOSTS, len(hosts), misplaced),
    ]


def _misplaced(present: pl.DataFrame, published: Published) -> int:
    """People outside their hosting group's intervals, or in a group whose tuples don't add up."""
    who = ["person", "host", "value"]
    found = _inside_their_host(present, published.boxes).select(*who, inside=True)
    placed = present.select(who).unique().join(found.unique(), on=who, how="left")
    placed = placed.with_columns(pl.col("inside").fill_null(value=False))
    counted = placed.group_by("host", "value").agg(pl.len().alias("people"))
    surplus = (
        published.values.join(
            counted, left_on=["group_id", "value"], right_on=["host", "value"], how="full", coalesce=True
        )
        .with_columns(pl.col("tuples", "people").fill_null(0))
        .with_columns((pl.col("tuples").cast(pl.Int64) - pl.col("people").cast(pl.Int64)).alias("surplus"))
        .group_by("group_id")
        .agg(pl.col("surplus").sum(), pl.col("surplus").min().alias("least"))
        .join(published.counterfeits, on="group_id", how="full", coalesce=True)
        .filter((pl.col("least") < 0) | (pl.col("surplus").fill_null(0) != pl.col("count").fill_null(0)))
    )
    wrong = placed.filter(~pl.col("inside") | pl.col("host").is_in(surplus["group_id"].implode()))
    # A group nobody is hosted in and whose tuples don't add up counts as one.
    return len(wrong) + len(surplus.join(placed, left_on="group_id", right_on="host", how="anti"))


def _inside_their_host(present: pl.DataFrame, boxes: pl.DataFrame) -> pl.DataFrame:
    """Those whom a box of their hosting group covers.

    Boxes of no width are looked up: by Anatomy a group has as many as people, too many to compare each
    person with each.
    """
    names = [column.removesuffix("_low") for column in boxes.columns if column.endswith("_low")]
    is_point = pl.all_horizontal(pl.col(f"{name}_low") == pl.col(f"{name}_high") for name in names)
    points = boxes.filter(is_point).select(
        host="group_id", **{name: pl.col(f"{name}_low").cast(present.schema[name]) for name in names}
    )
    inside = pl.all_horizontal(
        pl.col(name).is_between(pl.col(f"{name}_low"), pl.col(f"{name}_high")) for name in names
    )
    wide = present.join(boxes.filter(~is_point), left_on="host", right_on="group_id").filter(inside)
    return pl.concat([present.join(points, on=["host", *names], how="semi"), wide.select(present.columns)])


def _shares(published: Published, hosts: pl.DataFrame, promises: Sequence[Promise]) -> list[pl.DataFrame]:
    """Whether no value has a larger share of a person's group than they were promised.

    A group of which nobody is known is held to the largest share that was ever promised.
    """
    if all(promise.largest_share is None for promise in promises):
        return []
    given = [promise.largest_share for promise in promises if promise.largest_share is not None]
    shares = published.values.group_by("group_id").agg(
        (pl.col("tuples").max() / pl.col("tuples").sum()).alias("share"), pl.col("tuples").sum()
    )
    strictest = (
        hosts.with_columns(promised(promises, "largest_share").alias("most"))
        .group_by("group_id")
        .agg(pl.col("most").min())
    )
    owed = shares.join(strictest, on="group_id", how="left").with_columns(
        pl.col("most").fill_null(max(given))
    )
    over = owed.filter(pl.col("share") > pl.col("most") + 1e-12)
    tuples, above = (int(part["tuples"].sum()) for part in (shares, over))
    return [finding(fi.SHARE, tuples, above, shares["share"].max(), min(given))]


def _candidates(
    name: str, state: pl.DataFrame, promises: Sequence[Promise], by_chance: int = 0
) -> list[pl.DataFrame]:
    """How many values are left of each tuple, over all its lifespans."""
    left = candidates([state], "value").with_columns(promised(promises, "candidates").alias("least"))
    return _few(name, left, left, promises, by_chance)


def _changes(state: pl.DataFrame, promises: Sequence[Promise]) -> list[pl.DataFrame]:
    """Whether people whose value changed leave an adversary with nothing, or with enough."""
    people = changed([state])
    left = candidates([state.join(people, on="person", how="semi")], "person")
    left = left.with_columns(promised(promises, "candidates").alias("least"))
    return _few(fi.CHANGES, left, left.filter(pl.col("candidates") > 0), promises)


def _few(
    name: str,
    everybody: pl.DataFrame,
    counted: pl.DataFrame,
    promises: Sequence[Promise],
    by_chance: int = 0,
) -> list[pl.DataFrame]:
    """The people of whom fewer candidate values are left than promised; no row where nothing was promised.

    Without the linkage, a group may cover somebody by chance who is held back. As many people as are held
    back count as undecided instead of broken.
    """
    given = [promise.candidates for promise in promises if promise.candidates is not None]
    if not given:
        return []
    few = counted.filter(pl.col("candidates") < pl.col("least"))["person"].n_unique()
    undecided = min(few, by_chance)
    looked_at, fewest = everybody["person"].n_unique(), counted["candidates"].min()
    return [finding(name, looked_at, few - undecided, fewest, max(given), undecided)]


def _follow(
    knowledge: Knowledge,
    published: Published,
    known: pl.DataFrame,
    hosts: pl.DataFrame,
    forged: pl.DataFrame,
    release: int,
) -> Knowledge:
    """Remember who was in which group; groups whose members are not all known are left out.

    A person with another value than before is another member: the earlier value binds nobody any more.
    """
    number = pl.lit(release * GROUPS_PER_RELEASE) + pl.col("group_id")
    real = hosts.join(known.select("person", VALUE), on="person").select(
        "group_id", pl.struct("person", VALUE).hash(1).alias("person")
    )
    forged = followed_counterfeits(forged, published.values, release, knowledge.stays)
    members = pl.concat([real, forged])
    whole = members.group_by("group_id").len("known").join(published.sizes, on="group_id")
    whole = whole.filter(pl.col("known") == pl.col("size")).select("group_id")
    members = members.join(whole, on="group_id", how="semi").select(number.alias("partition"), "person")
    contents = published.values.join(whole, on="group_id", how="semi").select(
        number.alias("partition"), VALUE, "tuples"
    )
    if knowledge.members is not None:
        members = pl.concat([knowledge.members, members])
        contents = pl.concat([knowledge.contents, contents])
    return replace(knowledge, members=members, contents=contents)


def _forged(
    published: Published,
    known: pl.DataFrame,
    hosts: pl.DataFrame,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    schema: Schema,
    release: int,
) -> pl.DataFrame:
    """`group_id`, `person` of counterfeits: one per release, or as long as their quasi-identifiers stay."""
    vector = [column for column in release_format.counterfeit_key(schema) if column != VALUE]
    if not vector:
        each = published.counterfeits.select("group_id", pl.int_ranges(pl.col("count")).alias("copy"))
        each = each.explode("copy").drop_nulls()
        return each.select(
            "group_id",
            pl.struct(pl.lit(release).alias("release"), "group_id", "copy").hash(2).alias("person"),
        )
    main = tables[release_format.tables(schema)[0]]
    encoded = [encode(pl.col(column), qi).alias(column) for column, qi in schema.attributes()]
    real = known.join(hosts, on="person").group_by("group_id", *vector).len("people")
    return (
        main.select("group_id", *encoded)
        .group_by("group_id", *vector)
        .len("rows")
        .join(real, on=["group_id", *vector], how="left")
        .with_columns(
            pl.int_ranges(pl.col("rows").cast(pl.Int64) - pl.col("people").fill_null(0)).alias("copy")
        )
        .explode("copy")
        .drop_nulls("copy")
        .select("group_id", pl.struct(*vector, "copy").hash(2).alias("person"))
    )


def _conclude(
    findings: pl.DataFrame,
    knowledge: Knowledge,
    covered: pl.DataFrame,
    hosts: pl.DataFrame,
    tables: Mapping[str, pl.DataFrame],
    more: Mapping[str, int],
) -> ReleaseAttack:
    left = candidates([knowledge.covered], "value")
    here = left.join(covered.select("person", VALUE), on=["person", VALUE], how="semi")
    found = intersection_figures(left)
    figures = {
        "people": len(covered),
        "people_ever": left["person"].n_unique(),
        "vulnerable": found["vulnerable"],
        "smallest_candidates": found["smallest"],
        "mean_candidates": here["candidates"].mean(),
        "mean_covering_groups": covered["groups"].mean(),
        "hosts_known": len(hosts),
        "changed": len(changed([knowledge.covered])),
        "misled": int((candidates([knowledge.covered], "person")["candidates"] == 0).sum()),
    }
    if knowledge.hosted is not None:
        figures["smallest_candidates_by_host"] = candidates([knowledge.hosted])["candidates"].min()
    if knowledge.breach is not None:
        figures["largest_breach_probability"] = breach_figures(knowledge.breach)["largest"]
    figures |= {**more, "promises": len(findings), "broken_promises": int((~findings["holds"]).sum())}
    return ReleaseAttack(findings, figures, distribution(here), knowledge, tables)
