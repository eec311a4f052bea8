"""The parameters that the principles of buckets share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictInt, ValidationInfo

from republish.anonymize.contract import Contract, FromTwo, Parameters, too_few_values
from republish.anonymize.contract.changes import Change
from republish.anonymize.contract.earlier import POLICIES, gone_policies
from republish.anonymize.principle.principle import StateAsset
from republish.anonymize.promise import Candidates, LargestShare, MinimumPeople, Promise, Signatures

PeoplePerGroup = Annotated[StrictInt, Field(ge=1, exclude_if=lambda people: people == 1)]
"""People that each group has at least, counterfeits left out. Manifests state it if it promises anything."""


def _not_gone(policy: Any, info: ValidationInfo) -> Any:
    name = str(info.field_name)
    if gone := gone_policies({name: policy}):
        raise ValueError(POLICIES[name][gone[name]].way_out)
    return policy


OnIneligible = Annotated[Literal["refuse", "wait", "counterfeit"], BeforeValidator(_not_gone)]
OnValueChange = Annotated[Literal["separate", "refuse"], BeforeValidator(_not_gone)]

CORRECTED = (
    "If the right value is in the person's signature, the signature stays, and the candidate values are the"
    " same. Else the person gets a new signature that shares no value with the earlier ones. An adversary who"
    " follows the person then sees that the value changed or was wrong, and each value of the new signature"
    " may be the right one. Tell nobody the wrong value: one row of the person's former group has it, and it"
    " is no candidate of the other people there any more"
)
"""What principles of buckets say of a corrected value."""


class BucketParameters(Parameters):
    """The parameters of a principle that puts people into buckets of at least m values."""

    m: FromTwo
    """Nobody's value is learnt with a confidence above 1/m. At least 2."""
    on_ineligible: OnIneligible = "refuse"
    """When more than 1/m of the inserted people share a value: refuse the release, hold back all of them
    until they are eligible together with later ones, or add the fewest counterfeits."""
    people_per_group: PeoplePerGroup = 1
    """Of a group's people, counterfeits left out, at most one in so many has the same value. Where others
    left and that is impossible, people are held back. 1 to m."""
    on_value_change: OnValueChange = "separate"
    """When a person's new value is outside their signature: a new, disjoint signature, or no release."""


def bucket_faults(contract: Contract[BucketParameters]) -> list[tuple[str, str]]:
    """Faults of a contract under a principle of buckets: too few values, counterfeits that give away."""
    m, least = contract.principle.m, contract.principle.people_per_group
    faults = too_few_values("m", m, contract.sensitive)
    if least > m:
        message = f"a group of {m} values has no {least} people. Write a number from 1 to {m}"
        faults.append(("principle.people_per_group", message))
    if contract.principle.on_ineligible != "counterfeit":
        return faults
    if m == 2:
        message = (
            "counterfeit is refused with m = 2: an adversary who knows the algorithm would be certain of the"
            " value of each person who shares a group with such a counterfeit. Write wait, or a larger m"
        )
        faults.append(("principle.on_ineligible", message))
    elif not 2 <= least < m:
        number = "2" if m == 3 else f"a number from 2 to {m - 1}"
        message = (
            f"counterfeit needs {number}, and it is {least}: an adversary who knows the"
            " algorithm gives people beside a counterfeit the frequent value with a probability of up to one"
            " by this number. Write people_per_group: 2, or on_ineligible: wait"
        )
        faults.append(("principle.people_per_group", message))
    return faults


def bucket_advice(contract: Contract[BucketParameters]) -> list[str]:
    """Warn that corrected people may be alone with counterfeits, where nothing keeps them from it."""
    if not contract.corrections or contract.principle.people_per_group > 1:
        return []
    sentence = (
        "with corrections and people_per_group: 1, people whose value was wrong may be alone with"
        " counterfeits. If most of them got the same right value, an adversary who guesses it is right. Write"
        " people_per_group: 2"
    )
    return [sentence]


def bucket_changes(before: BucketParameters, now: BucketParameters) -> list[Change]:
    """Judge changes of the parameters; people published before keep their signature and their promise."""
    changes = []
    if now.m != before.m:
        is_safe = now.m > before.m
        why = (
            "People who are new get larger signatures, which costs counterfeits and wider groups."
            if is_safe
            else "People who are new get smaller signatures."
        )
        changes.append(Change("m", f"{before.m} -> {now.m}", "safe" if is_safe else "consent", why))
    for name in ("on_ineligible", "on_value_change"):
        former, today = getattr(before, name), getattr(now, name)
        if former != today:
            is_safe = today in ("refuse", "wait", "separate")
            why = "It decides what becomes of new or changed people from now on."
            changes.append(Change(name, f"{former} -> {today}", "safe" if is_safe else "consent", why))
    if now.people_per_group != before.people_per_group:
        is_safe = now.people_per_group > before.people_per_group
        why = (
            "People whose signature has too few people are held back."
            if is_safe
            else "People published before were promised groups of more people."
        )
        what = f"{before.people_per_group} -> {now.people_per_group}"
        changes.append(Change("people_per_group", what, "safe" if is_safe else "new series", why))
    return changes


def bucket_promise(parameters: BucketParameters, signatures: Literal["unique", "even"] = "unique") -> Promise:
    """Promise at least m candidate values for each person, and groups that have each value equally often."""
    m, least = parameters.m, parameters.people_per_group
    company = (MinimumPeople(least),) if least > 1 else ()
    return Promise(Candidates(m), LargestShare(1 / m), Signatures(signatures), *company)


BUCKETS_ASSET = StateAsset(
    name="buckets",
    description="How many people and counterfeits each signature has. Private; the next release keeps to it.",
    figures=("buckets", "groups"),
)
"""The asset of what is remembered of the buckets."""
