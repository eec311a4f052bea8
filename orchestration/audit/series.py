"""Whole series under attack, or one shard of them: every release in order, then all of them together."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from republish.anonymize.attack.assignments import MOST_PEOPLE, SeriesInput, choices_of
from republish.anonymize.attack.equivalence import Equivalence, Searched, minimum_equivalence
from republish.anonymize.attack.intersection import candidates
from republish.anonymize.attack.knowledge import MEMBERS, Knowledge
from republish.anonymize.attack.measures.guessing import Guesses, guess_values
from republish.anonymize.attack.measures.presence import Presence, guess_presence
from republish.anonymize.attack.same_values import CONTENTS
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Product, Schema, View
from republish.anonymize.errors import PublishedFolderError
from republish.anonymize.formats import Format, Published
from republish.anonymize.formats.published import GROUP, by_column, knowledge_table, with_fewer_columns
from republish.anonymize.people.renaming import moves
from republish.anonymize.principles import principle_of, publisher_of
from republish.anonymize.promise import Promise
from republish.anonymize.promise.attacked import attack as attack_one
from republish.anonymize.promise.registry import kinds_of
from republish.anonymize.promise.rules import Entries
from republish.anonymize.utility.usefulness import Usefulness, usefulness
from republish.anonymize.utility.views import view_usefulness
from republish.orchestration.audit.findings import AttackedRelease, AttackedSeries
from republish.orchestration.audit.read.folders import (
    PublishedSeries,
    ReleaseFiles,
    format_of,
    metadata_finding,
    read_linkage,
    read_release,
    read_truth,
)
from republish.orchestration.audit.read.manifests import chain_finding, claims_finding, held_back
from republish.orchestration.audit.read.material import Material, promises_of
from republish.orchestration.audit.read.own import read_own_truth
from republish.orchestration.audit.read.texts import compare_texts
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
    sensitive = material.contract.sensitive
    parts = 1 + len(sensitive.columns) if sensitive is not None and sensitive.is_several else 1
    domain = material.shard.domain if material.shard else None
    for series in material.series:
        releases: list[AttackedRelease] = []
        ever: list[pl.DataFrame] = []
        placed: list[tuple[str, Any]] = []
        before = attacked[series.before.name] if series.before else None
        knowledge = before.knowledge if before else Knowledge(domain=domain, releases=material.previous)
        for number, _ in enumerate(series.releases, start=1):
            yield f"{series.name} {series.releases[number - 1].name}"
            with named(series.releases[number - 1].path):
                releases.append(_attack_release(material, series, number, knowledge, seconds, releases[-1:]))
            knowledge = releases[-1].attack.knowledge
            places = [*material.contract_of(series.releases[number - 1]).attributes()]
            ever = _with_places(ever if places == placed else [], releases[-1].known)
            placed = places
            releases[-1] = _by_column(releases[-1], material, series, number, releases[-2:-1])
            # What was carried over is only kept once.
            if number > 1:
                releases[-1] = replace(releases[-1], moved=_moves(*releases[-2:]))
                releases[-2] = _forget(releases[-2])
        releases = [one.without_clues() for one in releases]
        yield f"{series.name}: who has the same value as whom"
        searched: Searched = {}
        one = AttackedSeries(
            series.name,
            releases,
            _equivalences(knowledge, seconds / parts, searched),
            _equivalences_by_column(knowledge, material.contract, seconds / parts, searched),
            presence=_presence(releases[-1], ever),
            before=before,
            promised=_judged_by(material, series, len(series.releases)),
        )
        yield f"{series.name}: who can have which value"
        attacked[series.name] = _as_a_whole(one, material, series)
        domain = knowledge.domain
    return list(attacked.values())


def _attack_release(
    material: Material,
    series: PublishedSeries,
    number: int,
    knowledge: Knowledge,
    seconds: float,
    before: Sequence[AttackedRelease],
) -> AttackedRelease:
    release = series.releases[number - 1]
    contract = material.contract_of(release)
    release_format = format_of(release, contract, material.foreign)
    read = _read(material, series, release, release_format, knowledge)
    tables, people, linkage = read.tables, read.people, read.linkage
    found = attack_one(
        contract.table_schema,
        release_format,
        tables,
        people,
        _judged_by(material, series, number),
        knowledge,
        linkage=linkage,
        held_back=read.held_back,
        is_own_format=material.foreign is None,
        everything=True,
        seconds=seconds,
        publish=None if material.foreign else publisher_of(contract),
    )
    schema = contract.table_schema
    main, *_ = release_format.tables(contract)
    attacked = AttackedRelease(release.name, len(tables[main]), found, contract.column_names())
    if material.shard is None:
        attacked = with_files(attacked, material, series, number, release_format, tables, len(people))
    if release_format.attack == "join":
        return replace(attacked, useful=_useful_view(release_format, tables, people, contract, release))
    if not attacked.attack.findings.filter(promise=Entries.scopes[""].name)["holds"].all():
        return attacked
    assert isinstance(schema, Schema)
    grouped = {name: table.with_columns(GROUP) for name, table in tables.items()}
    internal = release_format.internal(grouped, contract)
    published, known = release_format.read(internal, contract), knowledge_table(people, schema)
    attacked = replace(
        attacked,
        seen=choices_of(known, published, schema.sensitive, linkage) if len(people) <= MOST_PEOPLE else None,
        known=known,
        published=published,
    )
    if material.shard is not None:
        return attacked
    clues = [one.clues() for one in before]
    attacked = replace(attacked, guesses=guess_values(known, published, schema, linkage, *clues))
    if not people.height:
        return attacked
    return replace(attacked, useful=usefulness(release_format, internal, published, schema, known))


def with_files(
    attacked: AttackedRelease,
    material: Material,
    series: PublishedSeries,
    number: int,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: int,
) -> AttackedRelease:
    """A release with what its files say beside its rows: manifests, texts, metadata.

    Parameters
    ----------
    attacked
        The release as far as it was attacked.
    material, series, number, release_format, tables
        Where it is, and what was read of it.
    people
        How many people the truth has.
    """
    release = series.releases[number - 1]
    file, left_out = material.file_of(release), material.reading.left_out.get(release.name, {})
    stated = [
        chain_finding(series, number),
        claims_finding(release, release_format, file.contract, tables, people, left_out),
    ]
    rows = [attacked.attack.findings, *(row for row in stated if row is not None)]
    texts = compare_texts(release, release_format, file, tables)
    metadata, is_compared = metadata_finding(release, release_format, file.contract, texts.differ)
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


def _read(
    material: Material,
    series: PublishedSeries,
    release: ReleaseFiles,
    release_format: Format,
    knowledge: Knowledge,
) -> Read:
    if material.shard is None:
        domain = None if knowledge.domain is None else knowledge.domain[VALUE]
        tables, people = read_tables(material, release, release_format, domain)
        return Read(tables, people, _linkage(material, series, release.name), held_back(release))
    folder = material.shard.of(material.series.index(series), release.name)
    tables = {
        name: read_table(folder / f"table-{name}.parquet")
        for name in release_format.columns(material.contract_of(release))
    }
    people, linkage = read_table(folder / PEOPLE), read_table(folder / LINKAGE)
    # Whoever is in no shard's linkage is in the first shard's people.
    return Read(tables, people, linkage, people.join(linkage, on="person", how="anti").height)


def read_tables(
    material: Material, release: ReleaseFiles, release_format: Format, domain: pl.Series | None
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """The published tables of a release, and the truth with sensitive values of their type.

    Parameters
    ----------
    material, release, release_format
        What to read.
    domain
        The sensitive values of the releases before; None for the first.
    """
    file, reading = material.file_of(release), material.reading
    contract = file.contract
    tables = read_release(release, release_format, contract, material.foreign, reading)
    if material.home is None:
        people = read_truth(material.truth or file, release.name, contract, reading)
    else:
        people = read_own_truth(material.home, file, release, reading)
    return tables, _like_published(people, release_format, tables, contract, domain, release.path)


def _linkage(material: Material, series: PublishedSeries, release: str) -> pl.DataFrame | None:
    """Everybody's group; None without the private folder."""
    if not material.private:
        return None
    if material.shard is not None:
        return read_table(material.shard.of(material.series.index(series), release) / LINKAGE)
    return read_linkage(material.private, series.name, release, material.contract, material.reading)


def _useful_view(
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    contract: Product,
    release: ReleaseFiles,
) -> Usefulness | None:
    """What a view is worth; None if it has a label that its column does not have."""
    main, *_ = release_format.tables(contract)
    assert isinstance(contract, View)
    view = release_format.internal(tables, contract)[main]
    try:
        return view_usefulness(view, contract, people, held_back(release))
    except ValueError:
        return None


def _with_places(ever: list[pl.DataFrame], known: pl.DataFrame | None) -> list[pl.DataFrame]:
    """Everybody's last quasi-identifiers, after one more release with the same columns."""
    if known is None:
        return ever
    return [pl.concat([*ever, known.drop(VALUE)]).unique("person", keep="last", maintain_order=True)]


def _by_column(
    release: AttackedRelease,
    material: Material,
    series: PublishedSeries,
    number: int,
    before: Sequence[AttackedRelease],
) -> AttackedRelease:
    """A release with what is guessed of each of several sensitive columns."""
    contract = material.contract_of(series.releases[number - 1])
    known, published, sensitive = release.known, release.published, contract.sensitive
    is_several = sensitive is not None and sensitive.is_several
    if known is None or published is None or not is_several or material.shard is not None:
        return release
    schema = contract.table_schema
    assert isinstance(schema, Schema)
    linkage = _linkage(material, series, release.name)
    return replace(release, guesses_by_column=guess_by_column(published, known, schema, linkage, before))


def guess_by_column(
    published: Published,
    known: pl.DataFrame,
    schema: Schema,
    linkage: pl.DataFrame | None,
    before: Sequence[AttackedRelease],
) -> dict[str, Guesses]:
    """What is guessed of each of several sensitive columns by itself, by its name.

    `before` has the release before, if there is one.
    """
    found = {}
    for column in schema.sensitive.columns:
        groups, true = with_fewer_columns(published, known, schema.sensitive, [column.name])
        clues = [one.clues(column.name) for one in before]
        found[column.name] = guess_values(true, groups, schema, linkage, *clues)
    return {name: one for name, one in found.items() if one is not None}


def _presence(last: AttackedRelease, ever: list[pl.DataFrame]) -> Presence | None:
    if last.known is None or last.published is None:
        return None
    (everybody,) = ever
    outside = everybody.join(last.known, on="person", how="anti", maintain_order="left")
    return guess_presence(last.known, outside, last.published)


def _moves(before: AttackedRelease, now: AttackedRelease) -> pl.DataFrame | None:
    if before.known is None or now.known is None:
        return None
    return moves(*(one.rename({"person": PSEUDONYM}) for one in (before.known, now.known)))


def _like_published(
    people: pl.DataFrame,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    contract: Product,
    domain: pl.Series | None,
    where: Path,
) -> pl.DataFrame:
    """The truth with sensitive values of the published type: a CSV's numbers are text.

    Raises
    ------
    PublishedFolderError
        If the type is another than in an earlier release.
    """
    if contract.sensitive is None:
        return people
    columns = release_format.internal(tables, contract).values()
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


def _as_a_whole(attacked: AttackedSeries, material: Material, series: PublishedSeries) -> AttackedSeries:
    """The series with what all its releases together allow."""
    contract, is_linked = material.contract, material.private is not None
    promises = _judged_by(material, series, len(series.releases))
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
    elif not is_linked and any(held_back(release) for release in series.chain):
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
    found = {kind: kind.attack_series(whole, promises) for kind in kinds}
    return replace(attacked, whole={kind: one for kind, one in found.items() if one is not None})


def _judged_by(material: Material, series: PublishedSeries, number: int) -> list[Promise]:
    promises = promises_of(material, series, number)
    if material.believes_manifests:
        return promises
    return [material.asked] * len(promises)


def _forget(release: AttackedRelease) -> AttackedRelease:
    attack = replace(release.attack, knowledge=Knowledge())
    return replace(release.without_clues(), attack=attack, known=None, published=None)


def _equivalences(knowledge: Knowledge, seconds: float, searched: Searched) -> list[Equivalence]:
    members = knowledge.parts.get(MEMBERS)
    if members is None or members.is_empty():
        return []
    return minimum_equivalence(members, knowledge.parts[CONTENTS], seconds=seconds, searched=searched)


def _equivalences_by_column(
    knowledge: Knowledge, contract: Product, seconds: float, searched: Searched
) -> dict[str, list[Equivalence]]:
    """Who has the same value of one of several sensitive columns, whatever they have in the others."""
    members, sensitive = knowledge.parts.get(MEMBERS), contract.sensitive
    if members is None or members.is_empty() or sensitive is None or not sensitive.is_several:
        return {}
    columns = by_column(knowledge.parts[CONTENTS].rename({"partition": "group_id"}), sensitive)
    return {
        column.name: minimum_equivalence(
            members, contents.rename({"group_id": "partition"}), seconds=seconds, searched=searched
        )
        for column, contents in zip(sensitive.columns, columns, strict=True)
    }
