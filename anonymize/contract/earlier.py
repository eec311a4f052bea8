"""What contracts of earlier versions said that none says any more, in today's words: the one door for it.

Contracts, manifests and records of earlier versions are read through it, for audits and by a series that goes
on. A contract that is to be released under is refused with such words, and the refusal names the way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Gone(NamedTuple):
    """A policy that went."""

    today: str
    """Today's policy under which as many candidate values are promised to everybody who is published."""
    way_out: str
    """Why it went, and what to write."""


POLICIES: Mapping[str, Mapping[str, Gone]] = {
    "on_ineligible": {
        "defer": Gone(
            "wait",
            "defer is no longer accepted: people who were held back were known to have a frequent value."
            " Write wait, counterfeit or refuse",
        )
    },
    "on_value_change": {
        "hold_back": Gone(
            "refuse",
            "hold_back is no longer accepted: people who were held back were known to have a value that"
            " is not in their signature. Write separate or refuse",
        )
    },
}
"""Policies that went, by the parameter. Each held single people back, whose absence told of their value."""
SPREAD = "spread"
"""The parameter that promised how far apart a person's candidate numbers are."""
PROMISES: Mapping[str, str] = {
    SPREAD: "is no longer accepted. Declare coarser bins of the sensitive number, so that each candidate"
    " value of a person is a wide range"
}
"""Parameters that went with what they promised, and what to write in place of them."""


def in_todays_words(declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a contract of an earlier version declares, as a contract of this version does.

    Examples
    --------
    >>> in_todays_words({"series": "v1", "principle": {"on_ineligible": "defer", "spread": {"cost": 0.1}}})
    {'series': 'v1', 'principle': {'on_ineligible': 'wait'}}
    """
    principle = declared.get("principle")
    translated = {"principle": parameters_today(principle)} if isinstance(principle, Mapping) else {}
    return {**declared, **translated}


def parameters_today(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a contract, a manifest or a record states, without what went."""
    gone = gone_policies(stated)
    return {
        name: POLICIES[name][gone[name]].today if name in gone else value
        for name, value in stated.items()
        if name not in PROMISES
    }


def gone_policies(stated: Mapping[str, Any]) -> dict[str, str]:
    """The policies that went among some parameters, by the parameter.

    Examples
    --------
    >>> gone_policies({"m": 3, "on_ineligible": "defer", "on_value_change": "separate"})
    {'on_ineligible': 'defer'}
    """
    return {
        name: policy
        for name, policies in POLICIES.items()
        if isinstance(policy := stated.get(name), str) and policy in policies
    }


def gone_promises(stated: Mapping[str, Any]) -> list[str]:
    """The parameters among some that promised what nothing promises any more."""
    return [name for name in PROMISES if stated.get(name)]
