"""A release under attack: what is seen is prepared once, each part's attack follows, and what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import polars as pl

from republish.anonymize.attack.figures import AttackFigures
from republish.anonymize.attack.finding import findings_of_all
from republish.anonymize.attack.input import Publish, TablesInput, Told, prepare_groups
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.view import prepare_view
from republish.anonymize.figures import Figures, by_name, combined
from republish.anonymize.formats import Format
from republish.anonymize.promise.breach import BreachProbability
from republish.anonymize.promise.equivalence import Equivalence
from republish.anonymize.promise.minimum_people import MinimumPeople
from republish.anonymize.promise.part import Promise
from republish.anonymize.promise.registry import kinds_of, rules_of


@dataclass(frozen=True)
class ReleaseAttack:
    """Findings and counts of the attacks on one release, and on all before it."""

    findings: pl.DataFrame
    """One row per promise and figure that it was ever given: `promise`, `people`, `broken`, `undecided`,
    `found`, `required`, `bound`, `holds`, and `since`, the first release that promised it."""
    counted: tuple[Figures, ...]
    """`AttackFigures`, and what the attack on each kind of part counted."""
    knowledge: Knowledge
    """To be given to the attack on the next release."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What was counted beside the findings, by the name of the check that judges it."""

    @classmethod
    def of_shards(cls, shards: Sequence[ReleaseAttack], whole: pl.DataFrame | None = None) -> Self:
        """Join the attacks on a release's shards, without tables and what is known of anybody.

        Findings that only the `whole` release can show take the place of the shards' on the same promises.
        """
        findings = findings_of_all([one.findings for one in shards])
        if whole is not None:
            findings = pl.concat(
                [findings.join(whole, on="promise", how="anti", maintain_order="left"), whole]
            )
        broken = int((~findings["holds"]).sum())
        counted = (
            replace(one, promises=len(findings), broken_promises=broken)
            if isinstance(one, AttackFigures)
            else one
            for one in combined([one.counted for one in shards])
        )
        return cls(findings, tuple(counted), Knowledge())

    @property
    def figures(self) -> dict[str, int | float | None]:
        """All counts, by name."""
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
    told = Told(linkage, held_back, is_own_format, everything, seconds, publish)
    release = schema, release_format, tables, people, len(promises), before, told
    seen: Any
    if is_view := release_format.attack == "join":
        seen = prepare_view(*release)
    else:
        kinds = MinimumPeople, BreachProbability
        seen = prepare_groups(
            *release,
            again=any(promise.part(kind) for promise in promises for kind in kinds),
            whole_buckets=promises[-1].part(Equivalence) is not None,
        )
    rows: list[pl.DataFrame] = []
    counted: list[Figures] = []
    tables_judged: dict[str, pl.DataFrame] = {}
    remembered: dict[str, pl.DataFrame] = {}
    for kind in kinds_of(release_format, promises):
        found, today, since = kind.attack(seen, promises), kind.given(promises)[-1], kind.since(promises)
        rows += [
            kind.scopes[scope].finding(count._replace(since=count.since or since))
            for scope, count in found.each()
        ]
        counted.append(found.figures)
        remembered |= found.remembered
        if found.table is not None and today is not None and today.check is not None:
            tables_judged[today.check.name] = found.table
    findings = pl.concat(rows)
    looked_at, hosts = (seen.people, linkage) if is_view else (seen.covered, seen.hosts)
    of_all = AttackFigures(
        people=len(looked_at),
        hosts_known=0 if hosts is None else len(hosts),
        promises=len(findings),
        broken_promises=int((~findings["holds"]).sum()),
    )
    after = replace(seen.knowledge, parts={**seen.before.parts, **remembered})
    if not is_view:
        after = after.with_persons(seen.numbers.named)
    return ReleaseAttack(findings, (*counted, of_all), after, tables_judged)


def attack_tables(seen: TablesInput) -> pl.DataFrame:
    """Judge tables by the rules that are about them, whoever is in them: rows as those of `ReleaseAttack`."""
    rows = [
        rule.scopes[scope].finding(count)
        for rule in rules_of(seen.release_format)
        if rule.of_tables
        for scope, count in rule.attacked_by(seen).each()
    ]
    return pl.concat(rows)
