"""Where values are not declared, readers know those of releases: what that says of changed values.

A person who is published with a value that no release had before is known to have it, if nobody else can be
the one, because counterfeits only have values that somebody has (`first_seen` avoids that). A person who is
held back has one of the values that readers know, outside of the earlier signatures.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.assign import A, Assignment
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.errors import NotEligible
from republish.anonymize.people.persons import persons_of

OWN_VALUE = (
    "{people} people changed their sensitive value, and nobody else is known to have had their new value."
    " Counterfeits only have values that somebody has, so readers would know whose it is. List the domain"
    " under sensitive.values (a file of all codes, say), with values that nobody had yet"
)
"""Why values that are not declared, and first appear with a change, can't be published."""

LONE_VALUES = (
    "{values} values appear for the first time, each in groups of fewer than m ({m}) people beside"
    " counterfeits. Counterfeits only have values that somebody has, so readers would know that one of these"
    " few people has it. List the domain under sensitive.values (a file of all codes, say), with values that"
    " nobody had yet"
)
"""Why values that are not declared, and first appear with few people, can't be published."""


def refuse_own_values(assigned: Assignment[A], group: Ints, counterfeit: Bools, public: Bools) -> None:
    """Raise NotEligible if a release is the first with a value, and only its changed people may have it.

    Of a group without counterfeits, readers know that somebody has each value, and not who.

    Parameters
    ----------
    assigned
        The people, and which of them are in the release.
    group, counterfeit
        int[T], bool[T]: the group of each tuple, of people in their order, and of counterfeits.
    public
        bool[V]: the values that readers know without the release.
    """
    hosted = assigned.is_hosted
    value, known = assigned.value[hosted], _known(assigned, group, counterfeit, public)
    changed = assigned.division.queue[hosted] >= len(assigned.values)
    if people := int((changed & ~known[value]).sum()):
        raise NotEligible(OWN_VALUE.format(people=people))


def refuse_lone_values(
    assigned: Assignment[A], group: Ints, counterfeit: Bools, public: Bools, m: int
) -> None:
    """Raise NotEligible if a release is the first with a value, and rows of fewer than m people may have it.

    Where people have several rows, groups may have rows of one person alone, beside counterfeits. Arguments
    as those of `refuse_own_values`.
    """
    signatures = assigned.planned.plan.signatures
    held = pl.DataFrame({"bucket": signatures.bucket, "value": signatures.value})
    known = _known(assigned, group, counterfeit, public)
    rows = pl.DataFrame(
        {"person": persons_of(assigned.hosted[PSEUDONYM]), "bucket": assigned.bucket[assigned.is_hosted]}
    )
    people = rows.unique().join(held.filter(~pl.Series(known[signatures.value])), on="bucket")
    if (
        values := people.group_by("value")
        .agg(pl.col("person").n_unique())
        .filter(pl.col("person") < m)
        .height
    ):
        raise NotEligible(LONE_VALUES.format(values=values, m=m))


def _known(assigned: Assignment[A], group: Ints, counterfeit: Bools, public: Bools) -> Bools:
    """bool[V]: the values that readers know, or that a group without counterfeits has."""
    known = public.copy()
    known[assigned.value[assigned.is_hosted][~np.isin(group[~counterfeit], group[counterfeit])]] = True
    return known
