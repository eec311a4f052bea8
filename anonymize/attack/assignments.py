"""All releases of a series together: the assignments of tuples to people that are left, and their risks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import polars as pl

from republish.anonymize.attack.combinations import differing_candidates
from republish.anonymize.attack.copies import copies, numbered
from republish.anonymize.attack.exact_risk import Counted, exact_risks, risk_figures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.judged import Bounds, judged, promised
from republish.anonymize.attack.matching import covering_groups, match
from republish.anonymize.columns import VALUE, most_of
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.formats import Published
from republish.anonymize.formats.published import by_column
from republish.anonymize.rounding import FEW_STEPS

MOST_PEOPLE = 20_000
"""People in one release up to which its assignments are attacked: some seconds for each release."""


@dataclass(frozen=True)
class Choices:
    """The groups of one release that may hold each person."""

    covering: pl.DataFrame
    """`person`, `value`, `group_id`: the groups that may hold each person."""
    published: Published
    """The release."""
    numbered: Published
    """The release with numbered tuples of values that may be known."""
    copies: pl.DataFrame
    """`group_id`, `value`, `copies`: how many candidates each value is in each group."""
    hosts: pl.DataFrame | None
    """`person`, `group_id`, where hosting groups are known."""
    sensitive: Sensitive
    """The sensitive columns."""


@dataclass(frozen=True)
class SeriesInput:
    """All releases of a series, as the attack on all assignments takes them."""

    choices: Sequence[Choices]
    """The releases, in order."""
    owed: pl.DataFrame
    """`person`, `value`, `promised`: the release in which each got the promise they are judged by."""
    holding: Collection[str] = ()
    """The names of what was found to hold in every release."""
    is_linked: bool = False
    """Whether hosting groups are known."""


def choices_of(
    known: pl.DataFrame, published: Published, sensitive: Sensitive, linkage: pl.DataFrame | None
) -> Choices:
    """List the choices that one release leaves: the linked groups of people, or all that cover a person."""
    read = published, numbered(published, sensitive), copies(published, sensitive)
    if linkage is None:
        return Choices(covering_groups(known, published), *read, None, sensitive)
    hosts = linkage.select("person", "group_id")
    return Choices(known.select("person", VALUE).join(hosts, on="person"), *read, hosts, sensitive)


def attack_assignments(
    seen: SeriesInput, least: Bounds[int], *, is_bounded: bool = False
) -> AttackResult | None:
    """Strike off what no assignment allows, and count the risks that can be counted.

    Lemma 3 bounds the risk of everybody (`is_bounded`) where all groups were found to keep Definition 17:
    then risks that can't be counted are no larger than promised. It is about values of which a group has one
    each. Where a group has several rows of a value that may be known, nothing published numbers them: risks
    are counted without numbers there, no lemma bounds them, and people for whom they are larger than promised
    are undecided. Their promise is broken if the risk is larger with numbers, too. None is returned where no
    number of candidates is promised. If no assignment at all fits what was published, candidates by
    assignment are broken for everybody.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 13 and 14, Lemma 3.
    """
    owed = seen.owed.with_columns(bound=promised(least)).drop_nulls("bound")
    if owed.is_empty():
        return None
    covering, releases = [one.covering for one in seen.choices], [one.published for one in seen.choices]
    hosts = [one.hosts for one in seen.choices if one.hosts is not None]
    most, people = most_of(owed["bound"]), owed.select("person", "bound").unique()
    try:
        matched = match(covering, releases, hosts or None)
        risks = _risks_where_values_repeat(seen.choices)
    except ValueError:
        nobody = people.with_columns(found=pl.lit(0), is_broken=pl.lit(value=True))
        return AttackResult({"assignments": _of_anybody(judged(nobody, least, "min"))})
    counted = owed.join(_candidates(matched.left, seen.choices, most), on=["person", VALUE])
    left = counted.group_by("person", "bound").agg(found=pl.col("candidates").min())
    left = people.join(left, on=["person", "bound"], how="left")
    candidates = left.with_columns(is_broken=(pl.col("found") < pl.col("bound")).fill_null(value=False))
    # Risks are quotients of whole numbers, rounded once.
    above, broken = (
        (pl.col(risk) > 1 / pl.col("bound") + FEW_STEPS).fill_null(value=False)
        for risk in ("risk", "of_numbered")
    )
    is_open = above | (pl.col("risk").is_null() & (pl.col("repeats") | (not is_bounded)))
    of_risk = risks.join(owed, on=["person", VALUE]).with_columns(
        found=pl.max_horizontal("risk", pl.when(broken).then("of_numbered")),
        is_broken=broken,
        is_open=is_open & ~broken,
        exceeds=above & pl.col("repeats"),
    )
    told = risks.filter(~seen.choices[0].sensitive.may_be_known(risks[VALUE]))
    return AttackResult(
        {
            "assignments": _of_anybody(judged(candidates, least, "min")),
            "risk": [
                count._replace(required=1 / bound)
                for count in _of_anybody(judged(of_risk, least, "max"))
                if (bound := count.required) is not None
            ],
        },
        replace(
            risk_figures(told),
            repeated=int(told["repeats"].sum()),
            exceeding=int(of_risk["exceeds"].sum()),
            left_out=len(matched.left_out),
        ),
    )


def _of_anybody(counts: Sequence[Count]) -> list[Count]:
    """The counts of bounds that anybody was promised."""
    return [count for count in counts if count.people]


def _candidates(left: pl.DataFrame, choices: Sequence[Choices], enough: int) -> pl.DataFrame:
    """`person`, `value`, `candidates`: what is left, each value as often as every release has it for them.

    Of several sensitive columns, it is how many combinations differ in every column.
    """
    if choices and choices[0].sensitive.is_several:
        return differing_candidates(left, choices[0].sensitive, enough)
    key = ["person", VALUE, "candidate"]
    often = pl.concat(
        one.covering.join(one.copies.rename({VALUE: "candidate"}), on="group_id")
        .group_by(key)
        .agg(pl.col("copies").max())
        for one in choices
    )
    fewest = often.group_by(key).agg(pl.col("copies").min())
    return left.join(fewest, on=key).group_by("person", VALUE).agg(candidates=pl.col("copies").sum())


def _risks_where_values_repeat(choices: Sequence[Choices]) -> pl.DataFrame:
    """`person`, `value`, `risk` (without numbers), `of_numbered` (with them) and `repeats`.

    `repeats` says whether a person is connected with a group that has several rows of a value that may be
    known; for all others, numbers change nothing. If no assignment of numbered rows fits, none were kept.
    """
    repeated = [one.copies.filter(pl.col("copies") > 1).select("group_id").unique() for one in choices]
    if all(groups.is_empty() for groups in repeated):
        return _risks_of_columns(choices).with_columns(of_numbered="risk", repeats=False)
    covering = [one.covering for one in choices]
    plain = _risks(covering, [one.published for one in choices], {})
    beside = pl.concat(
        one.join(groups, on="group_id", how="semi").select("person", VALUE)
        for one, groups in zip(covering, repeated, strict=True)
    )
    connected = plain.join(beside, on=["person", VALUE], how="semi")["component"].unique()
    plain = plain.with_columns(repeats=pl.col("component").is_in(connected.implode()))
    try:
        of_numbered = _risks_of_columns(choices).select("person", VALUE, of_numbered="risk")
    except ValueError:
        return plain.with_columns(of_numbered="risk")
    both = plain.join(of_numbered, on=["person", VALUE], how="left", maintain_order="left")
    return both.with_columns(pl.when("repeats").then("risk").otherwise("of_numbered").alias("risk"))


def _risks_of_columns(choices: Sequence[Choices]) -> pl.DataFrame:
    """`person`, `value`, `risk`: of the value, or of that of the sensitive column with the largest risk."""
    covering, releases = [one.covering for one in choices], [one.numbered for one in choices]
    counted: Counted = {}
    risks = _risks(covering, releases, counted)
    sensitive = choices[0].sensitive
    if not sensitive.is_several:
        return risks
    for position, own in enumerate(values_of(risks[VALUE], sensitive)):
        parts = [values_of(one[VALUE], sensitive)[position] for one in covering]
        alone = _risks(
            [one.with_columns(part.alias(VALUE)) for one, part in zip(covering, parts, strict=True)],
            [replace(one, values=by_column(one.values, sensitive)[position]) for one in releases],
            counted,
        )
        keyed = risks.with_columns(own.alias("own"))
        of_column = alone.rename({VALUE: "own", "risk": "of_column"})
        joined = keyed.join(of_column, on=["person", "own"], how="left", maintain_order="left")
        # What could not be counted of one column is not known of all.
        worst = pl.when(pl.all_horizontal(pl.col("risk", "of_column").is_not_null())).then(
            pl.max_horizontal("risk", "of_column")
        )
        risks = joined.select("person", VALUE, risk=worst)
    return risks


def _risks(covering: Sequence[pl.DataFrame], releases: Sequence[Published], counted: Counted) -> pl.DataFrame:
    """Exact risks for an adversary who knows that signatures don't change, if in truth they don't."""
    try:
        risks = exact_risks(covering, releases, invariant=True, counted=counted)
    except ValueError:
        return exact_risks(covering, releases, invariant=False, counted=counted)
    # A true value that is impossible shows that some signature did change.
    if (risks["risk"] == 0).any():
        return exact_risks(covering, releases, invariant=False, counted=counted)
    return risks
