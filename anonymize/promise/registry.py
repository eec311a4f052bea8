"""All parts there are, and which of them a release is attacked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import polars as pl

from republish.anonymize.formats import Format
from republish.anonymize.promise.absence import Absence
from republish.anonymize.promise.algorithm import Posterior
from republish.anonymize.promise.breach import BreachProbability
from republish.anonymize.promise.candidates import Candidates, Signatures
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.equivalence import Equivalence
from republish.anonymize.promise.ever_had import EverHad
from republish.anonymize.promise.join import Linkability, LinkedValues
from republish.anonymize.promise.known_algorithm import KnownAlgorithm
from republish.anonymize.promise.minimum_people import MinimumPeople
from republish.anonymize.promise.part import Part, Promise, Scope
from republish.anonymize.promise.reidentification import KAnonymity, LDiversity
from republish.anonymize.promise.rules import PUBLICATION, RULES, ReleaseRule
from republish.anonymize.promise.share import LargestShare

KINDS: tuple[type[Part], ...] = (
    Signatures,
    Candidates,
    MinimumPeople,
    Absence,
    EverHad,
    Posterior,
    BreachProbability,
    Equivalence,
    LinkedValues,
    Linkability,
    KnownAlgorithm,
    KAnonymity,
    LDiversity,
    LargestShare,
)
"""All kinds of parts of a promise. Those that are not promised are attacked, and have their figures, in this
order."""


def promise_of(stated: Mapping[str, Any]) -> Promise:
    """The promise that `Promise.as_json` stated: each kind whose first field is stated is a part of it."""
    names = {kind: [one.name for one in fields(kind)] for kind in KINDS if fields(kind)}
    promised = {kind: own for kind, own in names.items() if stated.get(own[0]) is not None}
    places = {name: place for place, name in enumerate(stated)}
    return Promise(
        *(
            kind(**{name: stated[name] for name in own if name in stated})
            for kind, own in sorted(promised.items(), key=lambda one: places[one[1][0]])
        )
    )


def kinds_of(release_format: Format, promises: Sequence[Promise]) -> list[type[Part]]:
    """The kinds of parts that releases of a format are attacked for: promised today, not promised, rules."""
    promised = [type(part) for promise in reversed(promises) for part in promise]
    every = dict.fromkeys([*promised, *KINDS, *RULES])
    return [kind for kind in every if release_format.attack in kind.attacked_as]


def rules_of(release_format: Format) -> list[type[ReleaseRule]]:
    """The rules that releases of a format keep."""
    return [rule for rule in RULES if release_format.attack in rule.attacked_as]


def checks_of(promise: Promise, release_format: Format, schema: Any) -> list[Check]:
    """List what Great Expectations judges of releases that promise this, in the order shown."""
    published = {column.ours for columns in release_format.columns(schema).values() for column in columns}
    rules = [rule() for rule in rules_of(release_format) if rule.applies_to(published)]
    return [check for check in (part.check for part in (*promise, *rules)) if check is not None]


def scopes() -> dict[str, Scope]:
    """Map the names of all that findings can be about."""
    of_parts = [scope for kind in (*KINDS, *RULES) for scope in kind.scopes.values()]
    return {scope.name: scope for scope in (*of_parts, *PUBLICATION)}


def promised_in(promise: str, since: int, promises: Sequence[Promise]) -> list[int]:
    """List the releases, counted from 1, that promised as much as release `since` did."""
    for kind in KINDS:
        bounds = kind.bounds(promises)
        if any(scope.name == promise for scope in kind.scopes.values()) and bounds[since - 1] is not None:
            return [n for n, bound in enumerate(bounds, start=1) if bound == bounds[since - 1]]
    return list(range(1, len(promises) + 1))


def _kept(row: Mapping[str, Any]) -> str:
    """Say whether a row of findings keeps its promise."""
    if row["broken"]:
        return f"broken for {row['broken']:,}"
    return f"not decided for {row['undecided']:,}" if row["undecided"] else "which keeps it"


def describe_findings(findings: pl.DataFrame) -> str:
    """Say what was promised and what was found: each promise with a figure, and how many without."""
    named = scopes()
    of_people = [name for name, scope in named.items() if scope.counts_people]
    has_figure = (
        pl.col("required").is_not_null() & pl.col("found").is_not_null() & pl.col("promise").is_in(of_people)
    )
    figured = findings.filter(has_figure).with_columns(rows=pl.len().over("promise"))
    said = [
        f"{row['promise']}: {row['bound']} {row['required']:.4g} promised"
        f"{f' since release {since}' if row['rows'] > 1 and (since := row['since']) else ''},"
        f" {'largest' if row['bound'] == 'at most' else 'fewest'} found {row['found']:.4g}, {_kept(row)};"
        f" {row['people']:,} looked at"
        for row in figured.iter_rows(named=True)
    ]
    if figured["people"].n_unique() > 1:
        said.append("A promise looks at the people whom it is about and whose groups are known")
    said += [
        words.format_map({} if found is None else {"found": 1 / found, "required": 1 / level})
        for name, found, level in findings.filter(pl.col("undecided") > 0)
        .select("promise", "found", "required")
        .iter_rows()
        if (words := named[name].if_undecided) is not None
    ]
    others = findings.filter(~has_figure)
    if others.height:
        said.append(f"{others['holds'].sum()} of {others.height} promises without a figure hold")
    return ". ".join(f"{one[0].upper()}{one[1:]}" for one in said) + "."
