"""Whole series under attack, or one shard of them: every release in order, then all of them together."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from republish.anonymize.attack.assignments import MOST_PEOPLE, SeriesInput, choices_of
from republish.anonymize.attack.equivalence import Equivalence, minimum_equivalence
from republish.anonymize.attack.intersection import candidates
from republish.anonymize.attack.knowledge import MEMBERS, Knowledge
from republish.anonymize.attack.measures.guessing import Guesses, guess_values
from republish.anonymize.attack.measures.presence import Presence, guess_presence
from republish.anonymize.attack.same_values import CONTENTS
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Product, Schema, View
from republish.anonymize.errors import PublishedFolderError
from republish.anonymize.figures import Figures
from republish.anonymize.formats import Format
from republish.anonymize.formats.published import GROUP, knowledge_table, with_fewer_columns
from republish.anonymize.people.renaming import moves
from republish.anonymize.principles import principle_of, publisher_of
from republish.anonymize.promise.attacked import ReleaseAttack
from republish.anonymize.promise.attacked import attack as attack_one
from republish.anonymize.promise.registry import kinds_of
from republish.anonymize.promise.rules import Entries
from republish.anonymize.utility.usefulness import Usefulness, usefulness
from republish.anonymize.utility.views import view_usefulness
from republish.orchestration.audit.findings import AttackedRelease, AttackedSeries, Groups
from republish.orchestration.audit.read.folders import (
    metadata_finding,
    read_linkage,
    read_release,
    read_truth,
)
from republish.orchestration.audit.read.manifests import chain_finding, claims_finding, held_back
from republish.orchestration.audit.read.material import Material, Turn
from republish.orchestration.audit.read.own import read_own_truth
from republish.orchestration.audit.read.texts import compare_texts
from republish.orchestration.audit.same_names import compare_names
from republish.orchestration.snapshots.crosswalks import crosswalk
from republish.orchestration.storage.store import read_table
from republish.orchestration.unforeseen import named

PEOPLE, LINKAGE = "people.parquet", "linkage.parquet"
"""What a shard has of a release, in its folder."""


def attack_series(material: Material, seconds: float) -> Generator[str, None, list[AttackedSeries]]:
    """Attack every series; yields the name of each step as it begins, and returns what was found.

    Parameters
    ----------
    material
        What to read.
    seconds
        Time for the equivalence attack on each series.
    """
    attacked: dict[str, AttackedSeries] = {}
    domain = material.shard.domain if material.shard else None
    for series in material.series:
        releases: list[AttackedRelease] = []
        ever: list[pl.DataFrame] = []
        placed: list[tuple[str, Any]] = []
        before = attacked[series.before.name] if series.before else None
        knowledge = before.knowledge if before else Knowledge(domain=domain, releases=material.previous)
        for turn in material.turns(series):
            yield f"{series.name} {turn.release.name}"
            with named(turn.release.path):
                releases.append(_attack_release(turn, knowledge, seconds, releases[-1:]))
            knowledge = releases[-1].attack.knowledge
            places = [*turn.contract.attributes()]
            ever = _with_places(ever if places == placed else [], releases[-1].groups)
            placed = places
            # What was carried over is only kept once.
            if turn.number > 1:
                releases[-1] = _beside_the_one_before(releases[-2], releases[-1], turn)
                releases[-2] = _forget(releases[-2])
        releases = [one.without_clues() for one in releases]
        yield f"{series.name}: who has the same value as whom"
        one = AttackedSeries(
            series.name,
            releases,
            _equivalences(knowledge, seconds),
            presence=_presence(releases[-1], ever) if material.measures else None,
            before=before,
            promised=turn.promises,
        )
        yield f"{series.name}: who can have which value"
        attacked[series.name] = _all_releases(one, turn)
        domain = knowledge.domain
    return list(attacked.values())


def _attack_release(
    turn: Turn, knowledge: Knowledge, seconds: float, before: Sequence[AttackedRelease]
) -> AttackedRelease:
    material, contract, read = turn.material, turn.contract, _read(turn, knowledge)
    found = attack_one(
        contract.table_schema,
        turn.format,
        read.tables,
        read.people,
        turn.promises,
        knowledge,
        linkage=read.linkage,
        held_back=read.held_back,
        is_own_format=material.foreign is None,
        everything=True,
        seconds=seconds,
        publish=None if material.foreign else publisher_of(contract),
    )
    attacked = attacked_release(found, turn, read)
    if (groups := attacked.groups) is not None and len(groups.known) <= MOST_PEOPLE:
        choices = choices_of(groups.known, groups.published, groups.schema.sensitive, read.linkage)
        attacked = replace(attacked, seen=choices)
    return attacked if material.shard else as_a_whole(attacked, turn, read, before)


def attacked_release(found: ReleaseAttack, turn: Turn, read: Read) -> AttackedRelease:
    """A release as it was attacked, with its groups, where it has any and they can be read."""
    contract, release_format = turn.contract, turn.format
    schema, (main, *_) = contract.table_schema, release_format.tables(contract)
    attacked = AttackedRelease(turn.release.name, len(read.tables[main]), found, contract.column_names())
    readable = found.findings.filter(promise=Entries.scopes[""].name)["holds"].all()
    if release_format.attack == "join" or not readable:
        return attacked
    assert isinstance(schema, Schema)
    numbered = {name: table.with_columns(GROUP) for name, table in read.tables.items()}
    tables = release_format.internal(numbered, contract)
    published, known = release_format.read(tables, contract), knowledge_table(read.people, schema)
    return replace(attacked, groups=Groups(schema, tables, published, known))


def as_a_whole(
    attacked: AttackedRelease, turn: Turn, read: Read, before: Sequence[AttackedRelease]
) -> AttackedRelease:
    """A release with what only the whole of it can show: its files, what its groups teach, what it is worth.

    Parameters
    ----------
    attacked
        The release as far as it was attacked.
    turn, read
        Where it is, and what was read of it.
    before
        The release before, if there is one.
    """
    attacked, release_format = _with_files(attacked, turn, read), turn.format
    if not turn.material.measures:
        return attacked
    if release_format.attack == "join":
        return replace(attacked, useful=_useful_view(release_format, read, turn.contract))
    if attacked.groups is None:
        return attacked
    schema, tables, published, known = attacked.groups
    clues = [one.clues() for one in before]
    by_column = _guess_by_column(attacked.groups, read.linkage, before) if schema.sensitive.is_several else {}
    return replace(
        attacked,
        guesses=guess_values(known, published, schema, read.linkage, *clues),
        guesses_by_column=by_column,
        useful=usefulness(release_format, tables, published, schema, known) if known.height else None,
    )


def _with_files(attacked: AttackedRelease, turn: Turn, read: Read) -> AttackedRelease:
    """A release with what its files say beside its rows: manifests, texts, metadata."""
    left_out = turn.material.reading.left_out.get(turn.release.name, {})
    stated = [chain_finding(turn), claims_finding(turn, read.tables, len(read.people), left_out)]
    rows = [attacked.attack.findings, *(row for row in stated if row is not None)]
    texts = compare_texts(turn, read.tables)
    metadata, is_compared = metadata_finding(turn.release, turn.format, turn.contract, texts.differ)
    return replace(
        attacked,
        attack=replace(attacked.attack, findings=pl.concat([*rows, metadata])),
        words_not_compared=texts.not_compared,
        bytes_not_compared=None if is_compared else "another version of polars wrote them.",
    )


class Read(NamedTuple):
    """What is attacked of a release: of all people, or of a shard."""

    tables: Mapping[str, pl.DataFrame]
    people: pl.DataFrame
    linkage: pl.DataFrame | None
    held_back: int


def _read(turn: Turn, knowledge: Knowledge) -> Read:
    material, release = turn.material, turn.release
    if material.shard is None:
        tables, people = read_tables(turn, None if knowledge.domain is None else knowledge.domain[VALUE])
        linkage = None
        if material.private is not None:
            linkage = read_linkage(
                material.private, turn.series.name, release.name, material.contract, material.reading
            )
        return Read(tables, people, linkage, held_back(release))
    folder = material.shard.of(material.series.index(turn.series), release.name)
    tables = {
        name: read_table(folder / f"table-{name}.parquet") for name in turn.format.columns(turn.contract)
    }
    people, linkage = read_table(folder / PEOPLE), read_table(folder / LINKAGE)
    # Whoever is in no shard's linkage is in the first shard's people.
    return Read(tables, people, linkage, people.join(linkage, on="person", how="anti").height)


def read_tables(turn: Turn, domain: pl.Series | None) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """The published tables of a release, and the truth with sensitive values of their type.

    `domain` has the sensitive values of the releases before; None for the first.
    """
    material, release, reading = turn.material, turn.release, turn.material.reading
    file = material.file_of(release)
    tables = read_release(release, turn.format, file.contract, material.foreign, reading)
    if material.home is None:
        truth, known = material.truth or file, crosswalk(material.file, release.name)
        people = read_truth(truth, release.name, file.contract, reading, known=known)
    else:
        people = read_own_truth(material.home, file, release, reading)
    reading.people[str(release.path)] = people.height
    return tables, _like_published(people, turn, tables, domain)


def _useful_view(release_format: Format, read: Read, contract: Product) -> Usefulness | None:
    """What a view is worth; None if it has a label that its column does not have."""
    main, *_ = release_format.tables(contract)
    assert isinstance(contract, View)
    view = release_format.internal(read.tables, contract)[main]
    try:
        return view_usefulness(view, contract, read.people, read.held_back)
    except ValueError:
        return None


def _with_places(ever: list[pl.DataFrame], groups: Groups | None) -> list[pl.DataFrame]:
    """Everybody's last quasi-identifiers, after one more release with the same columns."""
    if groups is None:
        return ever
    places = pl.concat([*ever, groups.known.drop(VALUE)])
    return [places.unique("person", keep="last", maintain_order=True)]


def _guess_by_column(
    groups: Groups, linkage: pl.DataFrame | None, before: Sequence[AttackedRelease]
) -> dict[str, Guesses]:
    """What is guessed of each of several sensitive columns by itself, by its name."""
    schema, found = groups.schema, {}
    for column in schema.sensitive.columns:
        published, true = with_fewer_columns(groups.published, groups.known, schema.sensitive, [column.name])
        clues = [one.clues(column.name) for one in before]
        found[column.name] = guess_values(true, published, schema, linkage, *clues)
    return {name: one for name, one in found.items() if one is not None}


def _presence(last: AttackedRelease, ever: list[pl.DataFrame]) -> Presence | None:
    if last.groups is None:
        return None
    (everybody,), known = ever, last.groups.known
    outside = everybody.join(known, on="person", how="anti", maintain_order="left")
    return guess_presence(known, outside, last.groups.published)


def _beside_the_one_before(before: AttackedRelease, now: AttackedRelease, turn: Turn) -> AttackedRelease:
    """A release with what became of the values of the one before, and of its people's names."""
    now = replace(now, moved=_moves(before, now))
    if turn.material.shard is not None:
        return now
    names, gaps = compare_names(before, now, turn.contract, turn.series.name)
    findings = pl.concat([now.attack.findings, names])
    return replace(now, attack=replace(now.attack, findings=findings), other_names=gaps)


def _moves(before: AttackedRelease, now: AttackedRelease) -> pl.DataFrame | None:
    if before.groups is None or now.groups is None:
        return None
    return moves(*(one.known.rename({"person": PSEUDONYM}) for one in (before.groups, now.groups)))


def _like_published(
    people: pl.DataFrame, turn: Turn, tables: Mapping[str, pl.DataFrame], domain: pl.Series | None
) -> pl.DataFrame:
    """The truth with sensitive values of the published type: a CSV's numbers are text.

    Raises
    ------
    PublishedFolderError
        If the type is another than in an earlier release.
    """
    contract, where = turn.contract, turn.release.path
    if contract.sensitive is None:
        return people
    columns = turn.format.internal(tables, contract).values()
    dtype = next(table.schema[VALUE] for table in columns if VALUE in table.columns)
    if domain is not None and domain.dtype != dtype:
        raise PublishedFolderError(
            f"{where}: column {contract.sensitive.name} is {dtype}, and was {domain.dtype}"
            " in an earlier release; list the values in the contract (sensitive.values)"
        )
    if people.schema[VALUE] == dtype:
        return people
    values = people[VALUE].cast(dtype, strict=False)
    if values.null_count():
        raise PublishedFolderError(
            f"{where}: column {contract.sensitive.name} is {dtype}, and {values.null_count()} true values are"
            " not; list the values in the contract (sensitive.values)"
        )
    return people.with_columns(values)


def _all_releases(attacked: AttackedSeries, last: Turn) -> AttackedSeries:
    """The series with what all its releases together allow, up to the last one."""
    contract, is_linked, promises = last.material.contract, last.material.private is not None, last.promises
    kinds = [
        kind
        for kind in kinds_of(principle_of(contract).format(contract), promises)
        if kind.needs_all_releases
    ]
    kinds = [kind for kind in kinds if any(kind.given(promises))]
    if not kinds:
        return attacked
    why, seen = None, [release.seen for release in attacked.chain]
    if None in seen:
        why = f"a release has more than {MOST_PEOPLE:,} people, or entries that can't be read."
    elif not is_linked and any(held_back(release) for release in last.series.chain):
        why = "which people a release holds back is known with the private folder alone (--private)."
    if why is not None:
        return replace(attacked, why_no_assignments=why)
    rows = [release.attack.findings for release in attacked.chain]
    numbered = [one.with_columns(n=n) for n, one in enumerate(rows)]
    kept = pl.concat(numbered).group_by("promise").agg(pl.col("n").n_unique(), pl.col("holds").all())
    state = attacked.knowledge.hosted if is_linked else attacked.knowledge.covered
    assert state is not None
    whole = SeriesInput(
        [one for one in seen if one is not None],
        candidates([state], "value").select("person", VALUE, "promised"),
        kept.filter(pl.col("holds") & (pl.col("n") == len(rows)))["promise"].to_list(),
        is_linked,
    )
    findings, figures = list[pl.DataFrame](), list[Figures]()
    for kind in kinds:
        if (found := kind.attack_series(whole, promises)) is not None:
            findings += [kind.scopes[scope].finding(count) for scope, count in found.each()]
            figures.append(found.figures)
    if not findings:
        return attacked
    return replace(attacked, whole=ReleaseAttack(pl.concat(findings), tuple(figures), Knowledge()))


def _forget(release: AttackedRelease) -> AttackedRelease:
    attack = replace(release.attack, knowledge=Knowledge())
    return replace(release.without_clues(), attack=attack, groups=None)


def _equivalences(knowledge: Knowledge, seconds: float) -> list[Equivalence]:
    members = knowledge.parts.get(MEMBERS)
    if members is None or members.is_empty():
        return []
    return minimum_equivalence(members, knowledge.parts[CONTENTS], seconds=seconds)
