"""All releases of a series together: the assignments of tuples to people that are left, and their risks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from anonymize.attack import finding as fi
from anonymize.attack.exact_risk import exact_risks, risk_figures
from anonymize.attack.finding import finding
from anonymize.attack.knowledge import promised
from anonymize.attack.matching import covering_groups, match
from anonymize.columns import VALUE
from anonymize.formats import Published
from anonymize.promise.promise import Promise

MOST_PEOPLE = 20_000
"""People in one release up to which its assignments are attacked: some seconds for each release."""


@dataclass(frozen=True)
class Seen:
    """What an adversary sees of one release."""

    covering: pl.DataFrame
    """`person`, `value`, `group_id`: the groups that may hold each person."""
    published: Published
    """The release."""
    hosts: pl.DataFrame | None
    """`person`, `group_id`, where hosting groups are known."""


@dataclass(frozen=True)
class AttackedAssignments:
    """What attacking all assignments of a series came to."""

    findings: pl.DataFrame
    """As of a release's attack: candidates by assignment, disclosure risk."""
    figures: dict[str, int | float | None]
    """What `risk_figures` returns; empty where no risk was computed."""
    left_out: tuple[int, ...] = ()
    """Releases with too many choices to be matched."""


def see(known: pl.DataFrame, published: Published, linkage: pl.DataFrame | None) -> Seen:
    """One release as `attack_assignments` takes it.

    Parameters
    ----------
    known
        `person`, `value`, one column of codes per quasi-identifier.
    published
        The release.
    linkage
        `person`, `group_id`, if the adversary knows hosting groups; else those that cover a person count.
    """
    if linkage is None:
        return Seen(covering_groups(known, published), published, None)
    hosts = linkage.select("person", "group_id")
    return Seen(known.select("person", VALUE).join(hosts, on="person"), published, hosts)


def attack_assignments(
    seen: Sequence[Seen], owed: pl.DataFrame, promises: Sequence[Promise], *, is_bounded: bool = False
) -> AttackedAssignments | None:
    """Strike off what no assignment allows, and count the risks that can be counted.

    Parameters
    ----------
    seen
        The releases, in order.
    owed
        `person`, `value`, `promised`: the release in which each got the promise they are judged by.
    promises
        What each release promised.
    is_bounded
        Whether Lemma 3 is known to bound the risk of everybody, since everybody's groups were found to keep
        Definition 17: then risks that can't be counted are no larger than promised.

    Returns
    -------
    AttackedAssignments or None
        None where no number of candidates is promised. If no assignment at all fits what was published,
        candidates by assignment are broken for everybody.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 13 and 14, Lemma 3.
    """
    least = owed.with_columns(promised(promises, "candidates").alias("least")).drop_nulls("least")
    if least.is_empty():
        return None
    covering, releases = [one.covering for one in seen], [one.published for one in seen]
    hosts = None if seen[0].hosts is None else [one.hosts for one in seen]
    people, most = least["person"].n_unique(), least["least"].max()
    try:
        matched = match(covering, releases, hosts)
        risks = _risks(covering, releases)
    except ValueError:
        return AttackedAssignments(finding(fi.ASSIGNMENTS, people, people, 0, most), {})
    counted = least.join(matched.candidates, on=["person", VALUE])
    few = counted.filter(pl.col("candidates") < pl.col("least"))["person"].n_unique()
    rows = [finding(fi.ASSIGNMENTS, people, few, counted["candidates"].min(), most)]
    judged = risks.join(least, on=["person", VALUE])
    # Risks are quotients of whole numbers, rounded once.
    above = judged.filter(pl.col("risk") > 1 / pl.col("least") + 1e-12)
    undecided = 0 if is_bounded else judged["risk"].null_count()
    rows.append(
        finding(fi.RISK, len(judged), len(above), judged["risk"].max(), 1 / least["least"].min(), undecided)
    )
    return AttackedAssignments(pl.concat(rows), risk_figures(risks), matched.left_out)


def _risks(covering: Sequence[pl.DataFrame], releases: Sequence[Published]) -> pl.DataFrame:
    """Exact risks for an adversary who knows that signatures don't change, if in truth they don't."""
    try:
        risks = exact_risks(covering, releases, invariant=True)
    except ValueError:
        return exact_risks(covering, releases, invariant=False)
    # A true value that is impossible shows that some signature did change.
    return exact_risks(covering, releases, invariant=False) if (risks["risk"] == 0).any() else risks
