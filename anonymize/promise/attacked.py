"""A release under attack: what is seen is prepared once, each part's attack follows, and what they found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from anonymize.attack.figures import AttackFigures
from anonymize.attack.finding import Found
from anonymize.attack.knowledge import Knowledge
from anonymize.attack.seen import Publish, SeenTables, see_groups
from anonymize.attack.view import see_view
from anonymize.figures import Figures, by_name
from anonymize.formats import Format
from anonymize.promise.breach import BreachProbability
from anonymize.promise.check import Check
from anonymize.promise.company import Company
from anonymize.promise.equivalence import Equivalence
from anonymize.promise.owed import OWED
from anonymize.promise.part import Promise, Scope
from anonymize.promise.registry import kinds_of


@dataclass(frozen=True)
class ReleaseAttack:
    """What the attacks on one release, and on all before it, came to."""

    findings: pl.DataFrame
    """One row per promise and figure that it was ever given: `promise`, `people`, `broken`, `undecided`,
    `found`, `required`, `bound`, `holds`, and `since`, the first release that promised it."""
    counted: tuple[Figures, ...]
    """`AttackFigures`, and what the attack on each kind of part counted."""
    knowledge: Knowledge
    """To be given to the attack on the next release."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What was counted beside the findings, by the name of the check that judges it."""

    @property
    def figures(self) -> dict[str, int | float | None]:
        """What was counted, by name."""
        return by_name(self.counted)

    @property
    def holds(self) -> bool:
        """Whether no promise is broken."""
        return bool(self.findings["holds"].all())


def attack(
    schema: Any,
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
    publish: Publish | None = None,
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
        `identifier`, `qi_0`, … in their own types, `value`; of a view `column_0`, … in place of these.
    promises
        What each release so far promised to the people it published first, release 1 first. Everybody is
        judged by what they were promised; what is not promised is a figure, and can't be broken.
    knowledge
        What the attack on release n - 1 returned; None for the first. `releases` in it has the tables of
        other products that a view is joined with.
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
    publish
        The algorithm that made the release, to be run on other tables.

    Raises
    ------
    SnapshotError
        If a release that a view is to be joined with is not known.
    """
    before = knowledge or Knowledge()
    told: dict[str, Any] = {"linkage": linkage, "held_back": held_back}
    seen: Any
    is_view = release_format.attack == "join"
    if is_view:
        seen = see_view(schema, release_format, tables, people, len(promises), before, **told)
    else:
        told |= {
            "again": any(promise.part(kind) for promise in promises for kind in (Company, BreachProbability)),
            "is_own_format": is_own_format,
            "everything": everything,
            "seconds": seconds,
            "publish": publish,
            "whole_buckets": promises[-1].part(Equivalence) is not None,
        }
        seen = see_groups(schema, release_format, tables, people, len(promises), before, **told)
    rows: list[pl.DataFrame] = []
    counted: list[Figures] = []
    tables_judged: dict[str, pl.DataFrame] = {}
    remembered: dict[str, pl.DataFrame] = {}
    for scopes, check, found, since in _attacks(seen, release_format, promises):
        rows += [
            scopes[scope].finding(count._replace(since=count.since or since)) for scope, count in found.each()
        ]
        counted.append(found.figures)
        remembered |= found.remembered
        if found.table is not None and check is not None:
            tables_judged[check.name] = found.table
    findings = pl.concat(rows)
    looked_at, hosts = (seen.people, seen.linkage) if is_view else (seen.covered, seen.hosts)
    of_all = AttackFigures(
        people=len(looked_at),
        hosts_known=0 if hosts is None else len(hosts),
        promises=len(findings),
        broken_promises=int((~findings["holds"]).sum()),
    )
    after = replace(seen.knowledge, parts={**seen.before.parts, **remembered})
    return ReleaseAttack(findings, (*counted, of_all), after, tables_judged)


def attack_tables(seen: SeenTables) -> pl.DataFrame:
    """What published tables are found to owe, whoever is in them: rows as those of `ReleaseAttack`."""
    rows = [
        owed.scope.finding(count)
        for owed in OWED[seen.release_format.attack]
        if owed.of_tables
        for _, count in owed.attack(seen).each()
    ]
    return pl.concat(rows)


def _attacks(
    seen: Any, release_format: Format, promises: Sequence[Promise]
) -> Iterator[tuple[Mapping[str, Scope], Check | None, Found, int]]:
    """What the attack on each part found: on what is promised, then on other kinds for figures, then owed.

    With the first release that promised as much as the last one does.
    """
    for kind in kinds_of(release_format, promises):
        today = promises[-1].part(kind)
        yield kind.scopes, today.check if today else None, kind.attack(seen, promises), kind.since(promises)
    for owed in OWED[release_format.attack]:
        yield {"": owed.scope}, owed.check, owed.attack(seen), 1
