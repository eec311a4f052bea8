"""Every attack that is affordable release by release, with what an adversary remembers in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import polars as pl

from anonymize.attack import evidence as ev
from anonymize.attack.breach import breach_figures, breach_probability, link_probabilities
from anonymize.attack.coverage import cover
from anonymize.attack.equivalence import compromised
from anonymize.attack.intersection import (
    candidates,
    changed,
    distribution,
    intersect_hosts,
    intersection_figures,
    narrow,
)
from anonymize.attack.published import (
    GROUP,
    Published,
    codes,
    knowledge_table,
    read_anatomy,
    read_generalization,
    value_domain,
)
from anonymize.attack.tables import audit_tables
from anonymize.codes import encode
from anonymize.contract import Contract

GROUPS_PER_RELEASE = 10**9
"""Partitions of different releases have different numbers: release x this + group_id."""


@dataclass(frozen=True)
class Knowledge:
    """What an adversary remembers of a series. As private as the truth, and keyed like it."""

    domain: pl.DataFrame | None = None
    """`value`: every sensitive value so far, in the order of the bits."""
    covered: pl.DataFrame | None = None
    """Candidate sets by quasi-identifiers, as `intersect` leaves them."""
    hosted: pl.DataFrame | None = None
    """Candidate sets by hosting group, where hosting groups are known."""
    breach: pl.DataFrame | None = None
    """`person`, `value`, `breach`, where a breach probability is promised."""
    members: pl.DataFrame | None = None
    """`partition`, `person` (a hash), where equivalence is to be attacked."""
    contents: pl.DataFrame | None = None
    """`partition`, `value`, `tuples`."""

    def frames(self) -> dict[str, pl.DataFrame]:
        """What there is, by name: to be kept by whoever keeps files."""
        kept = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: frame for name, frame in kept.items() if frame is not None}


@dataclass(frozen=True)
class ReleaseAudit:
    """What the attacks on one release, and on all before it, came to."""

    evidence: pl.DataFrame
    """One row per promise: `promise`, `people`, `broken`, `found`, `required`, `holds`."""
    figures: dict[str, int | float | None]
    """Counts and extremes worth plotting over releases; nothing of any one person."""
    distribution: pl.DataFrame
    """`candidates`, `people`: the people of this release by the values an adversary is left with."""
    knowledge: Knowledge
    """To be given to the audit of the next release."""

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return bool(self.evidence["holds"].all())


def audit_release(
    contract: Contract,
    tables: Mapping[str, pl.DataFrame],
    snapshot: pl.DataFrame,
    release: int,
    knowledge: Knowledge | None = None,
    *,
    linkage: pl.DataFrame | None = None,
    held_back: int = 0,
    person: str | None = None,
    everything: bool = False,
    seconds: float = 60.0,
) -> ReleaseAudit:
    """Attack a release with everything known of the releases before it.

    Parameters
    ----------
    contract
        Columns, and the principle's parameters: m, l and e are what is promised.
    tables
        The published tables by name (`microdata`, or `quasi_identifiers` and `sensitive`; and
        `counterfeits`), in file order.
    snapshot
        The truth T(n): the contract's columns in their own types, in the snapshot's row order.
    release
        n, counted from 1.
    knowledge
        What the audit of release n - 1 returned; None for the first.
    linkage
        What only the publisher has: the identifier and `group_id` of everybody in the release. With it
        hosting groups are checked person by person; without it they are those that coverage settles.
    held_back
        How many people of the snapshot are not in the release on purpose.
    person
        The snapshot's column that tells people apart over releases, if not the identifier.
    everything
        Whether to attack equivalence and breach probability too where the principle promises neither:
        memberships and probabilities are remembered, as figures.
    seconds
        Time for the equivalence attack, where it is promised.
    """
    remembered = knowledge or Knowledge()
    tables = {name: table.with_columns(GROUP) for name, table in tables.items()}
    published = read_tables(tables, contract)
    people = knowledge_table(snapshot, contract, person)
    values = value_domain(
        published.values["value"],
        people["value"],
        known=None if remembered.domain is None else remembered.domain["value"],
    )
    remembered = replace(remembered, domain=values.to_frame("value"))
    covered = cover(people, published, values)
    hosts = _hosts(covered, snapshot, linkage, contract, person)
    m, share, guarantee, e = promised(contract)

    in_release = _in_release(covered, hosts, held_back, linked=linkage is not None)
    remembered = replace(remembered, covered=narrow(in_release, release, remembered.covered))
    rows = [
        *_publication(covered, published, hosts, values, held_back, linked=linkage is not None),
        _shares(published, hosts, share),
        _candidates(ev.CANDIDATES, remembered.covered, m),
        *audit_tables(tables, contract, snapshot, hosts, person),
    ]
    if linkage is not None:
        hosted = intersect_hosts(people, hosts, published, values, release, remembered.hosted)
        remembered = replace(remembered, hosted=hosted)
        rows += [
            _candidates(ev.HOST_CANDIDATES, remembered.hosted, m),
            _changes(remembered.hosted, m),
        ]
    if guarantee is not None or everything:
        links = link_probabilities(hosts, published.values)
        remembered = replace(remembered, breach=breach_probability(links, remembered.breach))
    if guarantee is not None:
        rows.append(breach_evidence(remembered.breach, guarantee))
    if e is not None or everything:
        remembered = _follow(remembered, published, people, hosts, tables, contract, release)
    if e is not None:
        rows += equivalence_evidence(remembered, e, seconds)
    return _conclude(pl.concat(rows), remembered, covered, hosts)


def promised(contract: Contract) -> tuple[int | None, int | None, int | None, int | None]:
    """m, the largest share's reciprocal, l of the breach probability, and e: None where not promised."""
    principle = contract.principle
    m, diversity, e = (getattr(principle, name, None) for name in ("m", "l", "e"))
    guarantee = diversity if principle.name == "global_guarantee" else None
    return m, m or diversity, guarantee, e


def read_tables(tables: Mapping[str, pl.DataFrame], contract: Contract) -> Published:
    """The published tables of a release, generalized or Anatomy, as an adversary reads them."""
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    counterfeits = tables.get("counterfeits", none)
    if "microdata" in tables:
        return read_generalization(tables["microdata"], counterfeits, contract)
    return read_anatomy(tables["quasi_identifiers"], tables["sensitive"], counterfeits, contract)


def equivalence_evidence(knowledge: Knowledge, e: int, seconds: float) -> list[pl.DataFrame]:
    """Whether nobody takes part in an equivalence attack with e' < e, and whether all was decided."""
    caught, undecided = compromised(knowledge.members, knowledge.contents, e, seconds=seconds)
    people = knowledge.members["person"].n_unique()
    # What there was no time to decide is not called safe, and not called broken either.
    return [
        ev.promise(ev.EQUIVALENCE, people, len(caught), None, e),
        ev.promise(ev.EQUIVALENCE_DECIDED, people, len(undecided)),
    ]


def breach_evidence(state: pl.DataFrame, guarantee: float) -> pl.DataFrame:
    """Whether nobody's breach probability is above 1 / guarantee."""
    found = breach_figures(state, guarantee)
    return ev.promise(ev.BREACH, found["people"], found["above"], found["largest"], 1 / guarantee)


def _hosts(
    covered: pl.DataFrame,
    snapshot: pl.DataFrame,
    linkage: pl.DataFrame | None,
    contract: Contract,
    person: str | None,
) -> pl.DataFrame:
    """`person`, `group_id`: by the linkage, or where just one group covers a person."""
    if linkage is None:
        return covered.filter(pl.col("group_id").is_not_null()).select("person", "group_id")
    named = snapshot.select(
        pl.col(contract.identifier), pl.col(person or contract.identifier).alias("person")
    )
    return named.join(linkage.select(contract.identifier, GROUP), on=contract.identifier, how="inner").select(
        "person", "group_id"
    )


def _in_release(covered: pl.DataFrame, hosts: pl.DataFrame, held_back: int, *, linked: bool) -> pl.DataFrame:
    """The people whom the release is about: who is held back has no candidates in it, and gives none away."""
    if linked:
        return covered.join(hosts.select("person"), on="person", how="semi")
    return covered.filter(pl.col("groups") > 0) if held_back else covered


def _publication(covered, published, hosts, values, held_back, *, linked) -> list[pl.DataFrame]:
    """Coverage, counts, and hosting groups person by person."""
    tuples = published.values["tuples"].sum() - (published.counterfeits["count"].sum() or 0)
    excess = abs(tuples - (len(covered) - held_back))
    if not linked:
        astray = (~covered.select(_holds_value(values)).to_series()).sum()
        return [
            ev.promise(ev.COVERAGE, len(covered), max(0, astray - held_back)),
            ev.promise(ev.COUNTS, len(covered), excess),
        ]
    present = covered.join(hosts.rename({"group_id": "host"}), on="person", how="inner")
    astray = (~present.select(_holds_value(values)).to_series()).sum()
    misplaced = _misplaced(present, published)
    missing = abs(len(covered) - held_back - len(hosts))
    return [
        ev.promise(ev.COVERAGE, len(covered), astray),
        ev.promise(ev.COUNTS, len(covered), max(excess, missing)),
        ev.promise(ev.HOSTS, len(hosts), misplaced),
    ]


def _holds_value(values: pl.Series) -> pl.Expr:
    """Whether a person's own value is among their candidates."""
    position = pl.col("value").replace_strict(values, range(len(values)), return_dtype=pl.UInt64)
    held = pl.lit(value=False)
    for word in range(-(-len(values) // 64)):
        bit = pl.lit(2, pl.UInt64).pow(position % 64).cast(pl.UInt64)
        held = held | ((position // 64 == word) & ((pl.col(f"candidates_{word}") & bit) != 0))
    return held


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


def _shares(published: Published, hosts: pl.DataFrame, required: int | None) -> pl.DataFrame:
    """The largest share of a value in its group; the people of groups above 1/required."""
    shares = published.values.group_by("group_id").agg(
        (pl.col("tuples").max() / pl.col("tuples").sum()).alias("share"), pl.col("tuples").sum()
    )
    largest = shares["share"].max()
    if required is None:
        return ev.promise(ev.SHARE, len(hosts), 0, largest)
    over = shares.filter(pl.col("share") > 1 / required + 1e-12)
    return ev.promise(ev.SHARE, int(shares["tuples"].sum()), int(over["tuples"].sum()), largest, 1 / required)


def _candidates(name: str, state: pl.DataFrame, required: int | None) -> pl.DataFrame:
    """How many values are left of each tuple, over all its lifespans."""
    left = candidates([state], "value")
    few = left.filter(pl.col("candidates") < (required or 0))
    return ev.promise(
        name, left["person"].n_unique(), few["person"].n_unique(), left["candidates"].min(), required
    )


def _changes(state: pl.DataFrame, required: int | None) -> pl.DataFrame:
    """Whether people whose value changed leave an adversary with nothing, or with enough."""
    people = changed([state])
    left = candidates([state.join(people, on="person", how="semi")], "person")
    few = left.filter(pl.col("candidates").is_between(1, (required or 0) - 1))
    found = left.filter(pl.col("candidates") > 0)["candidates"].min()
    return ev.promise(ev.CHANGES, len(left), len(few), found, required)


def _follow(
    knowledge: Knowledge,
    published: Published,
    people: pl.DataFrame,
    hosts: pl.DataFrame,
    tables: Mapping[str, pl.DataFrame],
    contract: Contract,
    release: int,
) -> Knowledge:
    """Remember who was in which group; groups whose members are not all known are left out."""
    number = pl.lit(release * GROUPS_PER_RELEASE) + pl.col("group_id")
    real = hosts.select("group_id", pl.col("person").hash(1))
    forged = _forged(published, people, hosts, tables, contract, release)
    members = pl.concat([real, forged])
    whole = members.group_by("group_id").len("known").join(published.sizes, on="group_id")
    whole = whole.filter(pl.col("known") == pl.col("size")).select("group_id")
    members = members.join(whole, on="group_id", how="semi").select(number.alias("partition"), "person")
    contents = published.values.join(whole, on="group_id", how="semi").select(
        number.alias("partition"), "value", "tuples"
    )
    if knowledge.members is not None:
        members = pl.concat([knowledge.members, members])
        contents = pl.concat([knowledge.contents, contents])
    return replace(knowledge, members=members, contents=contents)


def _forged(published, people, hosts, tables, contract, release) -> pl.DataFrame:
    """`group_id`, `person` of counterfeits: one per release, or as long as their quasi-identifiers stay."""
    if "microdata" in tables:
        each = published.counterfeits.select("group_id", pl.int_ranges(pl.col("count")).alias("copy"))
        each = each.explode("copy").drop_nulls()
        return each.select(
            "group_id",
            pl.struct(pl.lit(release).alias("release"), "group_id", "copy").hash(2).alias("person"),
        )
    vector = [name for name, _ in codes(contract)]
    rows = tables["quasi_identifiers"].select(GROUP, *_encoded(contract))
    real = people.join(hosts, on="person").group_by("group_id", *vector).len("people")
    return (
        rows.group_by("group_id", *vector)
        .len("rows")
        .join(real, on=["group_id", *vector], how="left")
        .with_columns(
            pl.int_ranges(pl.col("rows").cast(pl.Int64) - pl.col("people").fill_null(0)).alias("copy")
        )
        .explode("copy")
        .drop_nulls("copy")
        .select("group_id", pl.struct(*vector, "copy").hash(2).alias("person"))
    )


def _encoded(contract: Contract) -> list[pl.Expr]:

    return [encode(pl.col(qi.name), qi).alias(name) for name, qi in codes(contract)]


def _conclude(evidence, knowledge, covered, hosts) -> ReleaseAudit:
    left = candidates([knowledge.covered], "value")
    here = left.join(covered.select("person", "value"), on=["person", "value"], how="semi")
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
    figures |= {"promises": len(evidence), "broken_promises": int((~evidence["holds"]).sum())}
    return ReleaseAudit(evidence, figures, distribution(here), knowledge)
