"""The work of `republish init`: look at a table, ask, and write the draft of a contract."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from republish.anonymize.contract.source import begin_of_file
from republish.anonymize.errors import ContractError, SnapshotError, as_data
from republish.orchestration.cli.terminal import ask
from republish.orchestration.cli.terminal import out as terminal
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.json_schema import schema_text
from republish.orchestration.contracts.yaml_text import Fault
from republish.orchestration.drafts.columns import Column
from republish.orchestration.drafts.domains import is_too_large
from republish.orchestration.drafts.draft import (
    SCHEMA,
    Draft,
    draft_of,
    product_of,
    with_faults,
    without_what_cannot_be_read,
)
from republish.orchestration.drafts.found import FoundTable, in_database, in_files
from republish.orchestration.drafts.roles import (
    Roles,
    likely_identifier,
    likely_pair,
    likely_sensitive,
    names_somebody,
    repeated_person,
    roles_of,
)
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import write_together

DATABASES = ("duckdb:", "sqlite:", "postgresql:")


def write_draft(
    table: str,
    *,
    identifier: str | None,
    sensitive: str | None,
    not_sensitive: tuple[str, ...],
    query: str | None,
    out: Path | None,
    asks: bool,
    force: bool,
) -> None:
    """Draft a contract and write it; parameters as `republish init` has them.

    Raises
    ------
    ContractError
        If an option names no column, somebody has to be asked and nobody is there, or a file is in the way.
    SnapshotError
        If the table can't be read.
    """
    if asks and not sys.stdin.isatty():
        raise ContractError("init", [("", "there is nobody here to ask: add --yes to take what is likely")])
    found = in_database(table, query, Path.cwd()) if table.startswith(DATABASES) else in_files(Path(table))
    roles = _roles(found, identifier, sensitive, asks=asks)
    product = product_of(found.name)
    place = out or found.folder / f"{product}.yaml"
    found = _relative_to(found, place.parent)
    draft = draft_of(found, roles, product, not_sensitive)
    _refuse_others(place, draft, force=force)
    faults = _faults(place, draft)
    draft = with_faults(draft, faults)
    write_together(place.parent, {place.name: draft.text, SCHEMA: schema_text(), **draft.files})
    _say(place, found, draft)
    for key, why in faults:
        terminal.print(as_data(f"  it is not well formed yet: {key}: {why}"))


def _roles(found: FoundTable, identifier: str | None, sensitive: str | None, *, asks: bool) -> Roles:
    columns = {one.name: one for one in found.columns}
    persons = _persons(found, columns, identifier, asks=asks)
    if not persons:
        raise ContractError("--identifier", [("", _nobody(found))])
    for person in persons:
        _refuse_merged(person, found.name)
    others = [one for one in found.columns if one not in persons]
    secret = None if sensitive is None else _named(columns, sensitive, "--sensitive")
    if secret in persons:
        raise ContractError("--sensitive", [("", "names the identifier: name another column")])
    if secret is None:
        secret = likely_sensitive([one for one in others if not names_somebody(one)])
        if asks:
            likely = [] if secret is None else [secret]
            (secret,) = _asked(
                "Which column must nobody learn?", {one.name: one for one in others}, likely, 1
            )
    if secret is None:
        why = "no column looks as if nobody may learn it: name the one that is published, and protected"
        raise ContractError("--sensitive", [("", why)])
    several = not found.are_unique([one.name for one in persons])
    roles = roles_of(found.columns, persons, secret, found.unique, has_several=several)
    roles = without_what_cannot_be_read(roles, is_query="query" in found.source)
    if asks:
        roles = _asked_for_more(roles)
    if not roles.quasi_identifiers:
        why = "no column is left that others may know of a person: " + "; ".join(
            f"{as_data(one.name)}: {why}" for one, why in roles.left_out
        )
        raise SnapshotError(f"{found.name}: {why}")
    return roles


def _nobody(found: FoundTable) -> str:
    """Why no column is taken for what identifies a person, and the ways out."""
    again = repeated_person(found.columns, found.columns) if len(found.releases) == 1 else None
    if again is not None:
        name = as_data(again.name)
        return (
            f"rows repeat {name}, and are the same people's. If a column says when a row is from, write it as"
            " 2024-01-31, 2024-01, 2024Q1, 2024-W05 or 31.01.2024 there; if"
            f" people have several rows, name {name}"
        )
    why = "no column has another value in each row, or is called after persons: name the one that does"
    if rows := [as_data(one.name) or "the one without a name" for one in found.columns if one.numbers_rows]:
        why += (
            f"; {rows[0]} numbers the rows of each file, so that a number may be another person's in the next"
        )
    nearest = max(found.columns, key=lambda one: one.distinct / one.rows)
    if len(found.releases) == 1 and nearest.distinct * 2 > nearest.rows:
        why += f"; {as_data(nearest.name)} has {nearest.distinct:,} values in {nearest.rows:,} rows"
    if found.remarks and len(found.releases) > 1:
        why += f". {found.remarks[0].rstrip('.')}"
    return why + (
        ". If there is none, nobody can be followed from a table to the next: number the rows in a column"
        " of their own, and make a single release"
    )


def _persons(
    found: FoundTable, columns: dict[str, Column], identifier: str | None, *, asks: bool
) -> list[Column]:
    """The column, or the two, that identify a person; none if nothing looks like it and nobody says it."""
    if identifier is not None:
        names = _names_in(identifier, columns)
        if len(names) > 2:
            why = f"names {len(names)} columns: a draft takes one or two; write the others into the contract"
            raise ContractError("--identifier", [("", why)])
        return [_named(columns, name, "--identifier") for name in names]
    likely = likely_identifier(found.columns, found.unique, is_series=len(found.releases) > 1)
    if likely is None and found.person is not None:
        likely, pair = columns[found.person], None
    elif likely is None or likely.name not in found.unique:
        pair = likely_pair(found.columns, likely, found.unique, found.are_unique)
        if pair and len(found.releases) == 1 and repeated_person(pair, found.columns) is not None:
            pair = None  # the other column tells the rows of a person from each other
    else:
        pair = None
    persons = [*pair] if pair else [likely] if likely else []
    return _asked("Which column identifies a person?", columns, persons, 2) if asks else persons


def _names_in(text: str, columns: Collection[str]) -> list[str]:
    """The names that somebody wrote, each once: of a column, or of several with commas between them."""
    return [text] if text in columns else list(dict.fromkeys(name.strip() for name in text.split(",")))


def _refuse_merged(person: Column, where: str) -> None:
    """Raise SnapshotError if identifiers are such that neighbours may be one number."""
    if person.kind == "number" and (not person.is_whole or is_too_large(person.values)):
        raise SnapshotError(
            f"{where}: {as_data(person.name)} has numbers with decimals, or of 2^53 and more: as floats,"
            " neighbours are one number, and people can't be told apart. Write them as text in the source"
        )


def _named(columns: dict[str, Column], name: str, option: str) -> Column:
    if name in columns:
        return columns[name]
    close = difflib.get_close_matches(name, columns, n=1)
    hint = f"; is it {as_data(close[0])}?" if close else f"; there are {', '.join(map(as_data, columns))}"
    raise ContractError(option, [("", f"there is no column {as_data(name)}{hint}")])


def _asked(
    question: str, columns: dict[str, Column], likely: Sequence[Column], most: int | None = None
) -> list[Column]:
    """Ask for one or several columns, at most so many, until there are such."""
    which = {1: "one of them", 2: "one of them, or two: household,line"}
    while True:
        answer = ask(question, default=", ".join(one.name for one in likely) or None)
        names = [name for name in _names_in(answer, columns) if name]
        if names and len(names) <= (most or len(names)) and all(name in columns for name in names):
            return [columns[name] for name in names]
        named = which.get(most or 0, "some of them, with commas between")
        typer.echo(f"There are {', '.join(map(as_data, columns))}: name {named}.")


def _asked_for_more(roles: Roles) -> Roles:
    """Ask which of the columns others may know; all others are left out."""
    known = {one.name: one for one in (*roles.quasi_identifiers, *roles.more)}
    if not known:
        return roles
    chosen = _asked("Which columns may others know of a person?", known, roles.quasi_identifiers)
    others = [(one, "not chosen") for one in known.values() if one not in chosen]
    left_out = (*roles.left_out, *others)
    return replace(roles, quasi_identifiers=tuple(chosen), more=(), left_out=left_out)


def _relative_to(found: FoundTable, folder: Path) -> FoundTable:
    """The table with its path, or its database's file, as a contract in this folder has it."""
    key = "path" if "path" in found.source else "dsn"
    place = str(found.source[key])
    before = "" if key == "path" else begin_of_file(place)
    if before is None or Path(place.removeprefix(before)).is_absolute():
        return found
    path = os.path.relpath(found.folder.resolve() / place.removeprefix(before), folder.resolve())
    return replace(found, source={**found.source, key: before + path}, folder=folder)


def _refuse_others(place: Path, draft: Draft, *, force: bool) -> None:
    """Refuse to write over a file, unless that was told."""
    if not place.parent.is_dir():
        raise ContractError("--out", [("", f"{place.parent} is no folder")])
    there = [name for name in (place.name, *draft.files) if (place.parent / name).exists()]
    if there and not force:
        why = f"{place.parent / there[0]} is there already: --force writes over it, --out elsewhere"
        raise ContractError("init", [("", why)])


def _faults(place: Path, draft: Draft) -> list[Fault]:
    """The faults of a draft, read as every command would."""
    with scratch_folder() as folder:
        write_together(folder, {place.name: draft.text, **draft.files})
        try:
            load_contract(folder / place.name)
        except ContractError as error:
            return [*error.faults]
    return []


def _say(place: Path, found: FoundTable, draft: Draft) -> None:
    snapshots = f"{len(found.releases)} snapshots" if len(found.releases) > 1 else "a snapshot"
    terminal.print(f"{place}: a contract, from {snapshots} with {len(found.columns)} columns")
    for line in (*draft.said, *found.remarks):
        terminal.print(as_data(line))
    written: Sequence[str] = [*draft.files, SCHEMA]
    terminal.print(f"  beside it               {', '.join(written)}")
    terminal.print(f"{draft.guesses} comments in it begin with ?: look at them. Then try all snapshots:")
    terminal.print(f"  republish validate --all {shlex.quote(str(place))}")
