"""The parameters of m-invariance in a contract, and the checks of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictInt

from republish.anonymize.buckets.parameters import (
    BucketParameters,
    bucket_changes,
    bucket_faults,
    bucket_promise,
)
from republish.anonymize.contract import Contract
from republish.anonymize.contract.changes import Change
from republish.anonymize.promise import EverHad, KnownAlgorithm, Promise

KNOWS_ALGORITHM = "knows_algorithm"
REGROUP = 0.25
"""The share of groups that are made anew where a contract does not say it, and manifests do not either."""
WHY_NOT = {
    "counterfeit": "a counterfeit that makes a batch eligible never has the frequent value, and the adversary"
    " knows which groups have one",
    "wait": "a batch that is held back is known to be ineligible, which tells its people from those whom they"
    " come with in the end",
}
"""Why an adversary who knows the algorithm would gain from holding people back, or from counterfeits."""


class MInvariance(BucketParameters):
    """m-invariance: candidate sets that intersect over all releases keep at least m values."""

    name: Literal["m_invariance"]
    """`m_invariance`"""
    effort: Literal["fast", "best"] = "best"
    """`fast` splits buckets as the paper has it; `best` lets neighbouring groups exchange people, too, which
    shortens intervals and takes longer."""
    format: Literal["generalization", "anatomy"] = "generalization"
    """What is published of a group: intervals of its quasi-identifiers, or each of them exactly, beside the
    group's values."""
    adversary: Literal["paper", "knows_algorithm"] = Field(
        "paper", exclude_if=lambda adversary: adversary == "paper"
    )
    """Against whom 1/m is promised: the `paper`'s adversary, or one who also `knows_algorithm` and how
    frequent each value is among new people, which costs counterfeits. A series keeps it."""
    regroup: float = Field(REGROUP, ge=0, le=1, exclude_if=lambda share: share == REGROUP)
    """Of the groups whose people are all still there, this share is made anew in each release, those with the
    longest intervals first. An adversary learns from groups that are made anew; intervals of those that
    stay grow longer."""
    values_per_person: StrictInt | None = Field(None, ge=1, exclude_if=lambda most: most is None)
    """With `rows: several`, the most signatures that a person ever gets. Rows with further values are left
    out, by lot. A signature of s values has room for s/m of a person, since k are known with k/s: rows with
    one more are left out, too."""


def faults(contract: Contract[MInvariance]) -> list[tuple[str, str]]:
    """Faults of a contract: those of every principle of buckets, and what an adversary would gain from."""
    parameters, found = contract.principle, bucket_faults(contract)
    if contract.sensitive.is_several:
        found += _of_combinations(contract)
    found += _of_several_rows(contract)
    if parameters.adversary != KNOWS_ALGORITHM:
        return found
    if why := WHY_NOT.get(parameters.on_ineligible):
        message = f"{parameters.on_ineligible} is refused with adversary: knows_algorithm, because {why}"
        found.append(("principle.on_ineligible", f"{message}. Write refuse"))
    if contract.sensitive.not_sensitive:
        message = "is refused with adversary: knows_algorithm, for whom every value counts as sensitive"
        found.append(("sensitive.not_sensitive", f"{message}. Leave one of the two out"))
    if parameters.people_per_group > 1:
        message = "is refused with adversary: knows_algorithm, which holds nobody back. Leave it out"
        found.append(("principle.people_per_group", message))
    return found


def _of_several_rows(contract: Contract[MInvariance]) -> list[tuple[str, str]]:
    """List what a contract where people have several rows must say, and what it can't have."""
    parameters, m, most = contract.principle, contract.principle.m, contract.principle.values_per_person
    if contract.rows == "one":
        message = "is for people with several rows. Write rows: several, or leave it out"
        return [] if most is None else [("principle.values_per_person", message)]
    values = contract.sensitive.values
    if most is None:
        message = (
            "is missing: write how many different values of one person may be published, ever (3, say),"
            " because with rows: several everybody can count them"
        )
        return [("principle.values_per_person", message)]
    faults = []
    if values is not None and (most + 1) * m > len(values):
        largest = len(values) // m - 1
        way_out = f"Write {largest} or less" if largest >= 1 else "Choose a smaller m, or list more values"
        message = (
            f"must leave m ({m}) values of the {len(values)} outside of a person's {most} signatures of {m}:"
            f" whoever misses a row that was left out would know too much. {way_out}"
        )
        faults.append(("principle.values_per_person", message))
    for is_there, key, what, way_out in (
        (contract.sensitive.is_several, "sensitive", "several sensitive columns", "publish one column"),
        (bool(contract.sensitive.not_sensitive), "sensitive.not_sensitive", "not_sensitive", "leave it out"),
        (bool(contract.corrections), "corrections", "corrections", "begin a new series"),
        (parameters.adversary == KNOWS_ALGORITHM, "principle.adversary", KNOWS_ALGORITHM, "write paper"),
        (
            parameters.on_ineligible not in ("refuse", "wait"),
            "principle.on_ineligible",
            parameters.on_ineligible,
            "write refuse or wait",
        ),
        (
            parameters.on_value_change != "separate",
            "principle.on_value_change",
            parameters.on_value_change,
            "write separate: a value that changes is one more value of the person",
        ),
        (parameters.people_per_group > 1, "principle.people_per_group", "people_per_group", "leave it out"),
    ):
        if is_there:
            message = f"{what} is refused with rows: several: its proof is about people with one row"
            faults.append((key, f"{message}. {way_out[0].upper()}{way_out[1:]}"))
    return faults


def _of_combinations(contract: Contract[MInvariance]) -> list[tuple[str, str]]:
    """List what a contract with several sensitive columns can't have."""
    parameters, what, faults = contract.principle, "several sensitive columns", []
    if parameters.on_value_change == "separate":
        message = (
            f"must be refuse with {what}: where one column of a person changed, every signature with the new"
            " combination has a value of the earlier ones. Write refuse"
        )
        faults.append(("principle.on_value_change", message))
    if parameters.on_ineligible == "counterfeit":
        message = (
            f"counterfeit is refused with {what}: what counterfeits that make a batch eligible give away of"
            " combinations is not known. Write refuse or wait"
        )
        faults.append(("principle.on_ineligible", message))
    if parameters.m == 2 and parameters.people_per_group == 1:
        message = (
            f"must be 2 with {what} and m = 2: few people have the same combination as somebody who left. So"
            " people share a group with a counterfeit and nobody else, and an adversary who knows how"
            " frequent values are guesses most of these right. Write people_per_group: 2 (whoever would be"
            " beside a counterfeit waits), or a larger m"
        )
        faults.append(("principle.people_per_group", message))
    if parameters.adversary == KNOWS_ALGORITHM:
        message = (
            f"knows_algorithm is refused with {what}: its proof exchanges two values, and was not extended to"
            " combinations. Write paper, or publish one column"
        )
        faults.append(("principle.adversary", message))
    if contract.corrections:
        message = (
            f"are refused with {what}: where one column was wrong, every signature with the right combination"
            " has a value of the earlier ones. Begin a new series"
        )
        faults.append(("corrections", message))
    return faults


def promise(parameters: MInvariance) -> Promise:
    """Promise what every principle of buckets does, and 1/m against the adversary that the contract names."""
    promised = bucket_promise(parameters)
    if parameters.values_per_person is not None:
        promised = Promise(EverHad(1 / parameters.m), *promised)
    if parameters.adversary != KNOWS_ALGORITHM:
        return promised
    return Promise(KnownAlgorithm(1 / parameters.m), *promised)


def parameter_changes(before: MInvariance, now: MInvariance) -> list[Change]:
    """Effort and regroup change groups, and nothing that is promised; the format what is published."""
    changes = bucket_changes(before, now)
    if now.effort != before.effort:
        why = "Groups are made in another way; what is promised stays as it is."
        changes.append(Change("effort", f"{before.effort} -> {now.effort}", "safe", why))
    if now.regroup != before.regroup:
        why = "Other groups stay together; what is promised stays as it is."
        changes.append(Change("regroup", f"{before.regroup:g} -> {now.regroup:g}", "safe", why))
    if now.format != before.format:
        why = "All releases of a series have the same tables, so that they read as one dated table."
        changes.append(Change("format", f"{before.format} -> {now.format}", "new series", why))
    if now.adversary != before.adversary:
        why = "What an adversary learns follows from every release, from the first one on."
        changes.append(Change("adversary", f"{before.adversary} -> {now.adversary}", "new series", why))
    if now.values_per_person != before.values_per_person:
        is_fewer = (now.values_per_person or 0) < (before.values_per_person or 0)
        why = (
            "People keep the signatures that they have; further values are left out sooner."
            if is_fewer
            else "People may show more different values, and fewer values are outside of their signatures."
        )
        what = f"{before.values_per_person} -> {now.values_per_person}"
        changes.append(Change("values_per_person", what, "safe" if is_fewer else "consent", why))
    return changes
