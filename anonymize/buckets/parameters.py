"""The parameters that the principles of buckets share."""

from __future__ import annotations

from typing import Literal

from anonymize.contract import Contract, FromTwo, Parameters, too_few_values
from anonymize.contract.changes import Change
from anonymize.principle.principle import Memory
from anonymize.promise import Candidates, LargestShare, Promise, Signatures


class BucketParameters(Parameters):
    """What a contract says of a principle that puts people into buckets of at least m values."""

    m: FromTwo
    """Nobody's value is learnt with a confidence above 1/m. At least 2."""
    on_ineligible: Literal["refuse", "wait", "counterfeit", "defer"] = "refuse"
    """When more than 1/m of the inserted people share a value: refuse the release, hold back all of them
    until they are eligible together with later ones, add the fewest counterfeits, or hold back the fewest."""
    on_value_change: Literal["separate", "refuse"] = "separate"
    """When a person's new value is outside their signature: a new, disjoint signature, or no release."""


def bucket_faults(contract: Contract[BucketParameters]) -> list[tuple[str, str]]:
    """Faults of a contract under a principle of buckets: too few values, or counterfeits that give away."""
    m = contract.principle.m
    faults = too_few_values("m", m, contract.sensitive)
    if m == 2 and contract.principle.on_ineligible == "counterfeit":
        message = (
            "counterfeit is refused with m = 2: an adversary who knows the algorithm would be certain of the"
            " value of each person who shares a group with such a counterfeit. Write wait, or a larger m"
        )
        faults.append(("principle.on_ineligible", message))
    return faults


def bucket_changes(before: BucketParameters, now: BucketParameters) -> list[Change]:
    """What changed in the parameters; people published before keep their signature and their promise."""
    changes = []
    if now.m != before.m:
        is_safe = now.m > before.m
        why = f"People who are new get {'larger' if is_safe else 'smaller'} signatures."
        changes.append(Change("m", f"{before.m} -> {now.m}", "safe" if is_safe else "consent", why))
    for name in ("on_ineligible", "on_value_change"):
        former, today = getattr(before, name), getattr(now, name)
        if former != today:
            is_safe = today in ("refuse", "wait", "separate")
            why = "It decides what becomes of new or changed people from now on."
            changes.append(Change(name, f"{former} -> {today}", "safe" if is_safe else "consent", why))
    return changes


def bucket_promise(parameters: BucketParameters, signatures: Literal["unique", "even"] = "unique") -> Promise:
    """At least m candidate values for each person, in groups that hold each of their values equally often."""
    m = parameters.m
    return Promise(Candidates(m), LargestShare(1 / m), Signatures(signatures))


BUCKETS_ASSET = Memory(
    name="buckets",
    description="How many people and counterfeits each signature has. Private; the next release keeps to it.",
    figures=("buckets", "groups"),
)
"""The asset of what is remembered of the buckets."""
