"""A release made in memory: the people in, and everything that comes of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.contract import Product
from republish.anonymize.contract.expected import expected_of_release
from republish.anonymize.errors import (
    AT_FAULT,
    AuditFailed,
    ContractError,
    NotEligible,
    PublishedFolderError,
    SnapshotError,
)
from republish.anonymize.people.randomness import derive_key, generator
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import ReleaseAttack
from republish.orchestration.chain.audit import ATTACK, Attacked, attack_candidate, broken_promises
from republish.orchestration.chain.candidate import refuse_nobody, why_not_ordinary
from republish.orchestration.chain.changes import declared, ending_as_begun, refuse_changes
from republish.orchestration.chain.delta import beside_expected, changes_between, compare_people, why_odd
from republish.orchestration.chain.publication import describe, with_texts
from republish.orchestration.chain.shard import (
    Remembered,
    candidate_of,
    named_linkage,
    promised,
    with_others,
)
from republish.orchestration.chain.snapshot import LEFT_OUT_STATED, Snapshot
from republish.orchestration.library.contract import Contract
from republish.orchestration.library.frames import as_frame
from republish.orchestration.library.state import State, bound
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.series.release_record import CANDIDATE, write_published
from republish.orchestration.snapshots.sources import look_at, refuse_faults, with_identifier
from republish.orchestration.storage.manifest import MANIFEST, manifest, sums, verify_release
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import sha256, write_folder

NOT_HERE = {
    "shards": "dividing people into shards",
    "supersedes": "going on from another series",
    "corrections": "correcting values that were wrong",
    "identifiers": "going on under other identifiers",
    "published_to": "publishing to an object store",
}
"""What a contract may ask for that only `republish release` does, by its key."""


GO_ON = (
    "Go on from the state that the last release of this contract left; or leave the state out, for a series"
    " whose readers get none of the other one"
)
"""The way out where a state is of other releases."""


@dataclass(frozen=True)
class Release:
    """A release that passed its audit. Nobody has it yet; `state` is what the next one is built on."""

    contract: Contract
    date: str
    candidate: Candidate = field(repr=False)
    linkage: pl.DataFrame = field(repr=False)
    """Secret: which group has whom, by the identifier's own name. For an audit."""
    findings: pl.DataFrame
    """A row for each promise: whom it was made to, and whether it holds."""
    state: State = field(repr=False)
    """Secret: what the next release is built on, if this one is published."""
    figures: Mapping[str, float | None] = field(repr=False)
    """Counts of the release, and of its attack."""

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """What is published, by name, with the date in the first column."""
        return {name: dated(table, self.date) for name, table in self.candidate.published.items()}

    def write(self, series: str | Path) -> Path:
        """Publish it: write its folder, with manifest and texts, into that of its series.

        Returns
        -------
        Path
            `series/date`.

        Raises
        ------
        PublishedFolderError
            If the release is there, or the one before isn't, or is not as it was published.
        """
        folder, done = Path(series) / self.date, self.state.releases
        if folder.exists():
            raise PublishedFolderError(f"{folder}: is there already, and a published release never changes")
        previous = None
        if len(done) > 1:
            before = folder.with_name(done[-2])
            if not before.is_dir():
                raise PublishedFolderError(f"{before}: is not there; write the release before first")
            verify_release(before)
            previous = sha256(before / MANIFEST)
        snapshot = self.state.snapshot
        described = describe(
            self.contract.file,
            self.date,
            len(done),
            {name: value for name, value in self.figures.items() if value is not None},
            self.figures,
            left_out={} if snapshot is None else snapshot.stated.get(LEFT_OUT_STATED, {}),
            previous=previous,
        )
        with scratch_folder() as private:
            write_published(private, self.candidate, self.linkage, self.date)
            tables = {
                file.name.removeprefix(CANDIDATE): file for file in sorted(private.glob(f"{CANDIDATE}*"))
            }
            files = with_texts(tables, self.contract.product, described)
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_folder(folder, files, lambda written: manifest(described, written), sums)
        return folder


def release(
    people: pl.DataFrame, contract: Contract, state: State | None = None, *, date: str | dt.date
) -> Release:
    """Make the next release of a series, and attack it with all releases before it.

    Nothing is written: to publish, give `tables` away or `write` them, and keep the release's `state`. Never
    publish two releases that were made from one state.

    Parameters
    ----------
    people
        The table: a row for each person, by the contract's column names. Further columns are passed over.
    contract
        The columns, and what is promised.
    state
        What the release before left; None for a first one, under a new key.
    date
        Of the release, later than those before.

    Raises
    ------
    SnapshotError
        If the people are no polars DataFrame, not what the contract says, or odd beside those of the release
        before.
    ContractError
        If the state is of another product, series, identifier or kind of rows, the contract changed in a way
        that is neither safe nor accepted, or it asks for something that only `republish release` does.
    NotEligible, ValueChangeRefused
        If the principle refuses the people, or nobody would be in the release.
    AuditFailed
        If a promise would be broken.
    """
    as_frame(people, "people")
    state = state or State.begin()
    product = ending_as_begun(contract.product, state.declared)
    file = replace(contract.file, contract=product)
    contract = replace(contract, file=file)
    date = _date(date, state)
    where = f"{product.product}/{product.series} {date}"
    _refuse_what_takes_a_home(contract)
    _refuse_other_series(contract, state)
    refuse_changes(file, date, state.declared)
    before = with_others(state.remembered, file, where)
    now = _snapshot(people, contract, state, date, where)
    made = candidate_of(
        now.table,
        product,
        before.state,
        len(state.releases) + 1,
        lambda purpose: generator(state.key.encode(), product.product, product.series, date, purpose),
        where,
    )
    refuse_nobody(made.figures, where)
    promises = promised(product, before.promises)
    attacked, knowledge = attack_candidate(made, now.table, product, promises, before.knowledge)
    _refuse_odd(made, attacked.guessed, product, date, where)
    return Release(
        contract,
        date,
        made,
        named_linkage(product, now.table, made.linkage),
        _kept(attacked, where),
        State(
            state.key,
            (*state.releases, date),
            now,
            Remembered(made.state, knowledge, promises),
            declared(product),
            bound(product),
        ),
        _figures(made, attacked, product),
    )


def _date(date: str | dt.date, state: State) -> str:
    try:
        stated = (dt.date.fromisoformat(date) if isinstance(date, str) else date).isoformat()
    except ValueError:
        raise SnapshotError(f"date: {date} is no date; write it as 2026-01-31") from None
    if state.releases and stated <= state.releases[-1]:
        raise SnapshotError(f"date: {stated} is not after {state.releases[-1]}, the release before")
    return stated


def _refuse_what_takes_a_home(contract: Contract) -> None:
    fields = type(contract.product).model_fields
    faults = [
        (key, f"{what} is for `republish release`; leave it out")
        for key, what in NOT_HERE.items()
        if getattr(contract.product, key) != fields[key].get_default(call_default_factory=True)
    ]
    if faults:
        raise ContractError(str(contract.file.path), faults)


def _refuse_other_series(contract: Contract, state: State) -> None:
    """Raise ContractError if a state is of other releases, whose people would be taken for others."""
    now = bound(contract.product)
    faults = [
        (key, f"is {now[key]}, and the state was left by releases with {key}: {before}. {GO_ON}")
        for key, before in state.of.items()
        if now[key] != before
    ]
    if faults:
        raise ContractError(str(contract.file.path), faults)


def _snapshot(people: pl.DataFrame, contract: Contract, state: State, date: str, where: str) -> Snapshot:
    """The people under our own names and pseudonyms; SnapshotError if they are faulty or odd."""
    product = contract.product
    people, present = with_identifier(people, product.identifier, where), people.columns
    seen = look_at(people, product)
    refuse_faults(where, [seen], people, product, present)
    key = derive_key(state.key.encode(), "pseudonym", product.product, product.series)
    now = Snapshot.of(seen.people, product, key)
    parts = [compare_people(state.snapshot, now, changes_between(state.snapshot, now), product)]
    _, evidence = beside_expected(parts, product, date)
    if evidence["odd"].sum():
        raise SnapshotError(f"{where}: {why_odd(parts, product, date, evidence, (), (state.snapshot, now))}")
    return now


def _refuse_odd(made: Candidate, guessed: float | None, product: Product, date: str, where: str) -> None:
    figures, accepted = made.figures, product.accepted(date)
    evidence = expected_of_release(figures.counterfeits, figures.tuples, product, accepted, guessed)
    if evidence["odd"].sum():
        raise NotEligible(f"{where}: {why_not_ordinary(evidence, date)}")


def _kept(attacked: Attacked, where: str) -> pl.DataFrame:
    """The attack's findings, if every promise holds."""
    findings = attacked.evidence[ATTACK]
    if broken := broken_promises(findings):
        found = " ".join(broken).removesuffix(".")
        raise AuditFailed(f"{where}: the audit failed, and there is no release. {found}. {AT_FAULT}")
    return findings


def _figures(made: Candidate, attacked: Attacked, product: Product) -> dict[str, Any]:
    release_format = principle_of(product).format(product)
    widths = release_format.figures(release_format.internal(made.published, product), product)
    of_attack = ReleaseAttack(attacked.evidence[ATTACK], attacked.figures, Knowledge()).figures
    return {**made.figures.as_json(), **widths, **of_attack}
