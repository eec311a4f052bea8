"""Principles, their parameters and formats compared on the snapshots that are there, before publication.

Each option is a contract, whose first releases are rehearsed with the same snapshots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import polars as pl
from pydantic import ValidationError

from republish.anonymize.columns import PSEUDONYM, VALUE, most_of
from republish.anonymize.contract import Product, Schema, Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.contract.expected import MEASURES
from republish.anonymize.contract.product import Acceptance
from republish.anonymize.contract.sensitive import with_level
from republish.anonymize.errors import (
    AuditFailed,
    ContractError,
    NotEligible,
    SnapshotError,
    ValueChangeRefused,
)
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.people.rows import different_people
from republish.anonymize.principle.principle import Choice
from republish.anonymize.principles import PRINCIPLES, principle_of, with_parameters
from republish.anonymize.utility.usefulness import information_lost, usefulness
from republish.orchestration.chain.audit import ATTACK
from republish.orchestration.chain.delta import EXPECTED
from republish.orchestration.chain.rehearsal import rehearsal, rehearse
from republish.orchestration.chain.snapshot import Snapshot, kept_snapshot, look_at_snapshot
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.series.release_record import CANDIDATE, ReleaseRecord, read_tables
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import shards_of
from republish.orchestration.snapshots.sources import source_of
from republish.orchestration.storage.home import private_folder
from republish.orchestration.storage.scratch import scratch_folder

LADDER = (2, 3, 4, 6, 8, 10)
"""The values that are compared where none are named; the contract's own is one more."""
OF_SNAPSHOTS = tuple(one for one in MEASURES if one not in {"counterfeits", "guessed"})
"""Measures of a snapshot: a sample may have fewer people, and more of them alone with a value."""
REFUSALS = (NotEligible, ValueChangeRefused, SnapshotError, AuditFailed)
Say = Callable[[str], None]


@dataclass(frozen=True)
class Option:
    """One line of a comparison: what it is, what it would cost, and why it would be refused."""

    principle: str
    format: str
    """The release format's name in manifests."""
    parameter: str
    value: int
    is_declared: bool
    """Whether the contract says just this."""
    refused: str | None = None
    """The reason, in the words of a release; what follows is then None."""
    promised: float | None = None
    """The largest probability, or share of a group, that is promised."""
    best_guess: float | None = None
    """The largest one that the attacks on any of the releases found."""
    learned: float | None = None
    """The share of people guessed right by who learns from the groups of all releases (`guess_values`)."""
    information_lost: float | None = None
    """NCP, 0 to 1: the mean of the releases."""
    counterfeits: float | None = None
    """Share of all published tuples."""
    held_back: float | None = None
    """Share of the people of all snapshots."""
    median_error: float | None = None
    """Median relative error of counts (`usefulness`): the mean of the releases."""


@dataclass(frozen=True)
class Compared:
    """The tables that options are tried on."""

    releases: tuple[str, ...]
    snapshots: tuple[Snapshot, ...]
    """Those of the releases."""
    people: int
    """People in the largest snapshot, or their rows where they may have several; more than in any table if
    these are samples."""
    sensitive: Sensitive | None = None
    """The sensitive columns."""
    different_people: int | None = None
    """The people in the largest snapshot, where they may have several rows."""

    def about(self) -> dict[str, Any]:
        """Facts of the tables that stand beside the options."""
        return {
            "releases": list(self.releases),
            **(
                {"people": self.people}
                if self.different_people is None
                else {"rows": self.people, "people": self.different_people}
            ),
            "sampled": self.sampled,
            "most_frequent": self.most_frequent,
        }

    @property
    def sampled(self) -> int:
        """People, or rows, in the largest table."""
        return max(one.table.height for one in self.snapshots)

    @property
    def most_frequent(self) -> float:
        """The share of the most frequent value: who guesses it without any release is right so often.

        Of several sensitive columns, it is that of the column in which it is largest.
        """
        return max(
            float(most_of(values.value_counts()["count"]) or 0) / one.table.height
            for one in self.snapshots
            for values in values_of(one.table[VALUE], self.sensitive)
        )


def snapshots_to_compare(series: Series, most_releases: int, most_people: int, say: Say) -> Compared:
    """The first snapshots of a series, and of large ones the same people in each, chosen by lot.

    The series is a rehearsed one (`rehearsal`).

    Raises
    ------
    ContractError
        If releases of the contract's principle can't be compared.
    SnapshotError
        If there is no snapshot, or one has a fault, or nobody in it.
    """
    file, contract = series.file, series.contract
    if principle_of(contract).choice is None:
        why = f"{contract.principle.name} has no number that could be chosen by a comparison"
        raise ContractError(
            str(file.path), [("principle.name", f"{why}; republish validate tries it as it is")]
        )
    due = series.calendar.due or [file.first_release]
    found = []
    for release in due[:most_releases]:
        source = source_of(file, release)
        if not source.exists():
            break
        say(release)
        with scratch_folder() as folder:
            look_at_snapshot(series, release, folder)
            snapshot = kept_snapshot(shards_of(series)[0].within(folder))
        if snapshot is None or snapshot.table.is_empty():
            raise SnapshotError(f"{series.name} {release}: there is nobody in {source.place} to compare with")
        found.append(snapshot)
    if not found:
        raise SnapshotError(f"{series.name} {due[0]}: no snapshot yet in {source_of(file, due[0]).place}")
    largest = max((one.table for one in found), key=len)
    if largest.height > most_people:
        last = largest[PSEUDONYM][most_people]  # they are in the order of pseudonyms, which is a lot
        found = [replace(one, table=one.table.filter(pl.col(PSEUDONYM) < last)) for one in found]
    several = different_people(largest, contract)
    return Compared(tuple(due[: len(found)]), tuple(found), largest.height, contract.sensitive, several)


@dataclass(frozen=True)
class Line:
    """A principle with a format, of which several values of the parameter are options."""

    parameter: str
    declared: Mapping[str, Any]
    """The contract's entry `principle`, but for the parameter."""
    format: str
    """The release format's name in manifests."""

    def parameters(self, value: int) -> dict[str, Any]:
        """The contract's entry `principle` for a value."""
        return {**self.declared, self.parameter: value}


def lines(contract: Product, names: Sequence[str] | None, parameter: str | None) -> list[Line]:
    """The principles and formats that can be asked for, the contract's own principle first.

    Raises ContractError if there is no such principle, or none with this parameter.
    """
    own = contract.principle
    comparable = {name: one.choice for name, one in PRINCIPLES.items() if one.choice is not None}
    if strange := [name for name in names or () if name not in comparable]:
        raise ContractError(
            "--principles", [("", f"{strange[0]} is none; accepted: {', '.join(comparable)}")]
        )
    found = []
    for name in sorted(names or comparable, key=lambda name: name != own.name):
        choice = comparable[name]
        chosen = parameter or choice.parameters[0]
        if chosen not in choice.parameters:
            continue
        said = _said(contract, name, choice)
        formats = PRINCIPLES[name].parameters.model_fields.get("format")
        every = [{"format": one} for one in get_args(formats.annotation)] if formats else [{}]
        found += [Line(chosen, {**said, **one}, _format(contract, {**said, **one})) for one in every]
    if not found:
        accepted = dict.fromkeys(one for choice in comparable.values() for one in choice.parameters)
        raise ContractError("--parameter", [("", f"{parameter} is none; accepted: {', '.join(accepted)}")])
    return found


def _format(contract: Product, said: Mapping[str, Any]) -> str:
    """The release format of a principle, also where the contract's columns are none for it."""
    principle = PRINCIPLES[said["name"]]
    unchecked = contract.model_copy(update={"principle": principle.parameters.model_construct(**said)})
    return principle.format(unchecked).name


def _said(contract: Product, name: str, choice: Choice) -> dict[str, Any]:
    """The contract's entry for a principle: it takes over what it can from the contract's own principle."""
    own = contract.principle.model_dump()
    if name == own["name"]:
        return own
    principle = PRINCIPLES[name].parameters
    said = {**dict.fromkeys(choice.parameters, 3), **choice.others, "name": name}
    for key in own.keys() & principle.model_fields.keys() - {"name", "format"}:
        try:
            principle.model_validate({**said, key: own[key]})
        except ValidationError:
            continue
        said[key] = own[key]
    return said


def compare_options(
    series: Series, compared: Compared, asked: Sequence[Line], values: Sequence[int], say: Say
) -> Iterator[Option]:
    """Every option, line by line: the values in order, and the largest that is not refused beside them."""
    for line in asked:

        def tried(value: int, line: Line = line) -> Option:
            say(f"{line.declared['name']}, {line.parameter} = {value}")
            return _tried(series, compared, line, value)

        options = [tried(value) for value in sorted(set(values))]
        works = max((one.value for one in options if one.refused is None), default=1)
        refused = min((one.value for one in options if one.value > works), default=works)
        between: Option | None = None
        while refused - works > 1:
            middle = tried((works + refused) // 2)
            if middle.refused is None:
                works, between = middle.value, middle
            else:
                refused = middle.value
        yield from sorted([*options, *([between] if between else [])], key=lambda one: one.value)


def compare_levels(series: Series, most_releases: int, most_people: int, say: Say) -> Iterator[Option]:
    """Every level of the hierarchy of each sensitive column that has one, with the contract's own number.

    The series is a rehearsed one (`rehearsal`).

    Raises
    ------
    ContractError
        If no sensitive column has a hierarchy.
    SnapshotError
        If there is nothing to compare with.
    """
    contract = series.contract
    choice = principle_of(contract).choice
    columns = [one for _, one in contract.sensitive_columns() if one.hierarchy]
    if choice is None or not columns:
        why = "level is one of a hierarchy, and no sensitive column has one (sensitive.hierarchy)"
        raise ContractError("--parameter", [("", why)])
    said = contract.principle.model_dump()
    line = Line(choice.parameters[0], said, principle_of(contract).format(contract).name)
    for column in columns:
        for level in range(len((column.hierarchy or ((),))[0]) - 1):
            say(f"{column.name}, level {level}")
            assert contract.sensitive is not None, "it has columns"
            sensitive = with_level(contract.sensitive, column.name, level)
            other = contract.model_copy(update={"sensitive": sensitive})
            changed = replace(series, file=replace(series.file, contract=other))
            compared = snapshots_to_compare(changed, most_releases, most_people, say)
            yield replace(
                _tried(changed, compared, line, said[line.parameter]),
                parameter=f"{column.name} level",
                value=level,
                is_declared=level == column.level,
            )


def _tried(series: Series, compared: Compared, line: Line, value: int) -> Option:
    """The releases of an option, one built on the other."""
    declared = line.parameters(value)
    option = Option(
        principle=declared["name"],
        format=line.format,
        parameter=line.parameter,
        value=value,
        is_declared=declared == series.contract.principle.model_dump(),
    )
    try:
        other = with_parameters(series.contract, declared)
        contract = _of_first_releases(other, compared.releases)
        with rehearsal(replace(series, file=replace(series.file, contract=contract)), anew=True) as tried:
            made = []
            for release, snapshot in zip(compared.releases, compared.snapshots, strict=True):
                snapshot.keep(private_folder(tried.private(release)))
                made.append(rehearse(tried, release))
            return _with_figures(option, tried, compared, made)
    except ContractError as refusal:
        return replace(option, refused=refusal.faults[0][1])
    except REFUSALS as refusal:
        return replace(option, refused=str(refusal).removeprefix(f"{series.name} "))


def _of_first_releases(contract: Product, releases: Sequence[str]) -> Product:
    """A contract as one of the first releases of a series, of samples of the snapshots.

    They are whatever the snapshots are like. The share that is guessed right is measured, and not judged.
    """
    accept = {one: Acceptance(what=(*contract.accepted(one), *OF_SNAPSHOTS)) for one in releases}
    expect = contract.expect.model_copy(update={"guessed": 1.0})
    begun: dict[str, Any] = {"shards": 1, "supersedes": None, "corrections": {}}
    return contract.model_copy(update={**begun, "accept": accept, "expect": expect})


def _with_figures(option: Option, tried: Series, compared: Compared, made: Sequence[ReleaseRecord]) -> Option:
    """Add what the releases of an option promise, were found to keep, and cost."""
    verdicts = [{one.promise: one.table for one in record.verdicts} for record in made]
    probabilities = [
        row
        for tables in verdicts
        for row in tables[ATTACK]
        if row["bound"] == "at most" and row["found"] is not None and row["required"]
    ]
    named = [row for row in probabilities if row["promise"] == probabilities[0]["promise"]]
    tables = [one.table for one in compared.snapshots]
    counted = [record.counts for record in made if record.counts is not None]
    worth = [_worth(tried, *one) for one in zip(compared.releases, tables, made, strict=True)]
    return replace(
        option,
        promised=max((row["required"] for row in named), default=None),
        best_guess=max((row["found"] for row in named), default=None),
        learned=next((row["found"] for row in verdicts[-1][EXPECTED] if row["measure"] == "guessed"), None),
        counterfeits=_share(sum(one.counterfeits for one in counted), sum(one.tuples for one in counted)),
        held_back=_share(sum(one.held_back for one in counted), sum(table.height for table in tables)),
        information_lost=_share(sum(lost for lost, _ in worth), len(worth)),
        median_error=_share(sum(error for _, error in worth), len(worth)),
    )


def _worth(tried: Series, release: str, people: pl.DataFrame, made: ReleaseRecord) -> tuple[float, float]:
    """NCP and the median error of a release."""
    contract = tried.contract
    assert isinstance(contract, Schema)
    release_format = principle_of(contract).format(contract)
    published = read_tables(tried.private(release), CANDIDATE, made).items()
    tables = release_format.internal({name: undated(one, release) for name, one in published}, contract)
    known = knowledge_table(people.rename({PSEUDONYM: "person"}), contract)
    found = usefulness(release_format, tables, release_format.read(tables, contract), contract, known)
    return information_lost(found.widths, dict(contract.attributes())), found.median_error


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
