"""The delta: changes from the snapshot before to this one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import polars as pl

from republish.anonymize.columns import CORRECTED, IDENTIFIER, PSEUDONYM, VALUE
from republish.anonymize.contract import Product
from republish.anonymize.contract.expect import FREE_TEXT, OWN_VALUES
from republish.anonymize.contract.expected import (
    ALIKE,
    EXTENDED,
    LABELS,
    MOVED,
    RENAMED,
    DeltaFigures,
    describe_expected,
    describe_odd,
    expected_of_snapshot,
)
from republish.anonymize.errors import HomeError, SnapshotError
from republish.anonymize.people.delta import delta, delta_figures
from republish.anonymize.people.own_values import count_values, own_values
from republish.anonymize.people.persons import joined_by_names, persons_of
from republish.anonymize.people.renaming import (
    declarable,
    describe_renamings,
    moves_by_column,
    suspected_renamings,
)
from republish.anonymize.people.rows import counted_in
from republish.orchestration.chain.corrections import corrections_of
from republish.orchestration.chain.snapshot import KEPT, PEOPLE, Snapshot, kept_snapshot, most_people
from republish.orchestration.contracts.yaml_text import on_a_line
from republish.orchestration.engine import the_engine
from republish.orchestration.expectations import Verdict, judge
from republish.orchestration.series.lock import locked_for
from republish.orchestration.series.predecessor import Predecessor, predecessor_of
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import ShardJob, jobs_of
from republish.orchestration.snapshots.crosswalks import Crosswalk, crosswalk
from republish.orchestration.snapshots.identifiers import (
    all_but_one_character,
    changed_form,
    drifted,
    extended,
    named,
)
from republish.orchestration.snapshots.labels import (
    LABELS_STATED,
    NONE_CHANGED,
    Changed,
    Labels,
    describe_relabelled,
    relabelled,
    together,
)
from republish.orchestration.snapshots.moved import (
    beside_most,
    by_name,
    in_both,
    labels_moved,
    lasts,
    moved_by_column,
    no_labels_moved,
    nobody_moved,
    why_moved,
)
from republish.orchestration.snapshots.rekeyed import MOST_COMPARED, count_alike, form_of_change
from republish.orchestration.storage.store import (
    PARTIAL,
    read_json,
    read_table,
    write_json,
    write_working_table,
)

EXPECTED = "expected"
"""The check and the suite of what is ordinary."""
CHANGES = "delta.parquet"
"""In the folder of a shard: what became of each of its people."""
OWN = (
    "No group hides whom such a value is about, if the value itself says it. Publish groups of"
    " values (sensitive.hierarchy with level), numbers in bins (sensitive.bins), or another column."
)
"""Why values of one person alone are refused, and what may be published in their place."""
RELABELLED = (
    "A code with another label is another value. Give the codes back the labels that they had, or publish"
    " labels in place of codes, in a new series (labels: true under source)."
)
"""Why codes with other labels are refused."""
MERGED = (
    "If labels were split or merged, counts by them can't be compared with those of earlier releases: undo it"
    " in the source, or publish a level above both."
)
"""Why labels of quasi-identifiers are asked about of which nobody has one any more."""
ELSEWHERE = "moved.json"
"""In a release's private folder: the share of people who have another value, by column, if it is ordinary."""
ONE_CHARACTER = "{:,} new people's identifiers are, but for one character, like one that is gone"
"""Said of a snapshot beside what is expected of it."""
SAME_PEOPLE = (
    "If they are the same people, write their old and new identifiers into a file, and in the contract"
    " identifiers: {{{release}: FILE.csv}}."
)
"""What the contract may say of people who were given other identifiers."""
NOT_LISTED = "If they are the same people, {file} has to list them, each as they were and are written there."
"""The same, where it names a file of that release."""
UNJUDGED = f".{CHANGES}{PARTIAL}"
"""There, until it is judged: nothing can be built on it."""


@dataclass(frozen=True)
class Delta:
    """Changes since the snapshot before."""

    figures: DeltaFigures
    evidence: pl.DataFrame
    """The contract's expectations of these figures, a row per measure."""
    verdict: Verdict
    """The verdict of the suite `expected`."""


def compare_snapshots(series: Series, release: str) -> Delta | None:
    """Keep which people were carried, inserted, deleted or changed, and judge whether that is ordinary.

    Of a published release, what was kept is read again; None if it is not kept any more.

    Raises
    ------
    SnapshotError
        If the snapshot is not what the contract expects, and is not accepted by name.
    HomeError
        If this snapshot was not taken yet, or the one before is gone.
    """
    with locked_for(series, release) as folder:
        folders = [job.own for job in jobs_of(series, release, folder)]
        if series.is_published(release):
            if not all((own / CHANGES).exists() for own in folders):
                return None
            kept = DeltaFigures.of_all([delta_figures(read_table(own / CHANGES)) for own in folders])
            contract = series.contract
            return _judged(kept, expected_of_snapshot(kept, contract, contract.accepted(release)), contract)
        if not all((own / PEOPLE).exists() for own in folders):
            raise HomeError(
                f"{series.name} {release}: its snapshot was not taken yet. Materialize"
                f" {series.contract.product}/snapshot first, or run republish release"
            )
        return compare(series, release, predecessor_of(series, release), folder)


@dataclass(frozen=True)
class Compared:
    """Changes in one shard."""

    figures: DeltaFigures
    moved: pl.DataFrame | None
    """People by the values that they had and have (`moves`)."""
    gone: pl.DataFrame
    new: pl.DataFrame
    """People of the snapshot before alone, and of this one, as `named` has them; of many, one more than are
    compared."""
    values: pl.DataFrame | None
    """How many people have each sensitive value (`count_values`); None where no column is sensitive."""
    stayed: pl.DataFrame
    """People of both, as they were before: as many as chance is tried with (`count_alike`)."""
    elsewhere: pl.DataFrame
    """How many people have another value, by column (`moved_by_column`)."""
    labels: pl.DataFrame
    """People by the labels that they had and have, of quasi-identifiers (`labels_moved`)."""


def compare(series: Series, release: str, predecessor: Predecessor, folder: Path) -> Delta:
    """Keep the changes since the snapshot that a release is built on, if they are ordinary.

    Parameters
    ----------
    series, release, predecessor
        Which one, and what it is built on.
    folder
        The release's, with its snapshot, to keep what became of each person.

    Raises
    ------
    SnapshotError
        If it is neither ordinary nor accepted by name.
    HomeError
        If the snapshot before is gone.
    """
    jobs = jobs_of(series, release, folder, predecessor)
    before = (job.predecessor.folder for job in jobs if job.predecessor.folder is not None)
    gone = next((one for one in before if not (one / PEOPLE).exists()), None)
    if gone is not None and predecessor.committed:
        # Without it, everybody would look like a new person, and nothing would look odd.
        raise HomeError(
            f"{gone / PEOPLE}: is not there, and {series.name} {release} has to be compared with it. Put it"
            " back from a copy"
        )
    work = partial(compare_shard, crosswalk(series.file, release))
    parts = list(the_engine().run(work, jobs, most_people(series, folder)))
    changed = changed_labels(series, release, predecessor, folder)
    earlier = (read_json(predecessor.folder / ELSEWHERE) if predecessor.folder else None) or {}
    figures, evidence = beside_expected(parts, series.contract, release, changed, earlier)
    compared = _judged(figures, evidence, series.contract)
    if not compared.verdict.passed:
        broken, sample = compared.verdict.broken, _snapshots(jobs[0])
        reasons = why_odd(parts, series.contract, release, evidence, broken, sample, changed)
        raise SnapshotError(f"{series.name} {release}: {reasons}", [compared.verdict])
    ordinary = evidence.filter(pl.col("measure") == MOVED, ~pl.col("accepted")).select("column", "found")
    write_json(folder / ELSEWHERE, dict(ordinary.iter_rows()))
    for job in jobs:
        (job.own / UNJUDGED).rename(job.own / CHANGES)
    return compared


def changed_labels(series: Series, release: str, predecessor: Predecessor, folder: Path) -> Changed:
    """The codes of a snapshot, in the folder of its release, that mean something else than before.

    Before are all earlier snapshots that are kept: where one had no labels, those before it had. They are
    read if this one has labels.
    """
    now = _labels(folder)
    if not now:
        return NONE_CHANGED
    earlier = [*map(series.private, series.calendar.until(release)[:-1])]
    if not earlier and predecessor.folder is not None:  # of the series that this one goes on from
        earlier = [predecessor.folder]
    return relabelled(together(map(_labels, earlier)), now)


def _labels(folder: Path) -> Labels:
    """The labels of the codes of a snapshot that is kept in a folder."""
    labels: Labels = (read_json(folder / KEPT) or {}).get(LABELS_STATED, {})
    return labels


def beside_expected(
    parts: Sequence[Compared],
    contract: Product,
    release: str,
    changed: Changed = NONE_CHANGED,
    earlier: Mapping[str, float] = MappingProxyType({}),
) -> tuple[DeltaFigures, pl.DataFrame]:
    """Changes in all shards, and the contract's expectations of them, a row per measure.

    `earlier` are the shares of people who had another value in the release before, by column.
    """
    values = [part.values for part in parts if part.values is not None]
    own = own_values(pl.concat(values)) if values else None
    figures = _together(parts, [one for one in (_renamed(parts), _merged(parts)) if one is not None])
    accepted, codes = contract.accepted(release), {name: len(said) for name, said in changed.items()}
    moved = beside_most(_of_all(parts, "elsewhere"), contract, earlier)
    return figures, expected_of_snapshot(figures, contract, accepted, own, codes, moved)


def why_odd(
    parts: Sequence[Compared],
    contract: Product,
    release: str,
    evidence: pl.DataFrame,
    broken: Sequence[str],
    sample: tuple[Snapshot | None, Snapshot],
    changed: Changed = NONE_CHANGED,
) -> str:
    """What is odd about a snapshot, and the ways out.

    `broken` is what the verdict says where no measure is odd; `sample` has the snapshots of a shard;
    `changed` the codes that mean something else than before.
    """
    reasons = describe_odd(evidence, counted_in(contract)) or list(broken)
    odd = evidence.filter(pl.col("odd") > 0)["measure"].unique(maintain_order=True).to_list()
    if "carried" in odd:
        reasons += filter(None, [_other_form(*sample)])
    if LABELS in odd:
        reasons += describe_relabelled(changed)
    if MOVED in odd:
        columns = evidence.filter((pl.col("odd") > 0) & (pl.col("measure") == MOVED))["column"].to_list()
        reasons += _why_moved(columns, contract, *sample)
    if ALIKE in odd:
        reasons += filter(None, [form_of_change(*(_of_all(parts, kind) for kind in ("gone", "new")))])
    if not {"carried", ALIKE, EXTENDED}.isdisjoint(odd):
        reasons += filter(None, [_one_character(parts)])
    ways_out = [*_ways_of_renaming(parts, contract)] if RENAMED in odd else []
    if not {OWN_VALUES, FREE_TEXT}.isdisjoint(odd):
        ways_out.append(OWN)
    if LABELS in odd:
        ways_out.append(RELABELLED)
    ways_out += _if_always_so(evidence.filter(pl.col("odd") > 0))
    if not {ALIKE, EXTENDED}.isdisjoint(odd):
        listed = contract.identifiers.get(release)
        ways_out.append(NOT_LISTED.format(file=listed) if listed else SAME_PEOPLE.format(release=release))
    accepted = f"accept: {{{release}: [{', '.join(odd)}]}}"
    ways_out.append(f"Correct the snapshot; or, if it is right, accept it in the contract, {accepted}")
    said = "; ".join(reasons)
    return f"{said}{'' if said.endswith('?') else '.'} {' '.join(ways_out)}"


def _if_always_so(odd: pl.DataFrame) -> Iterator[str]:
    """What to write where as many people change in every release."""
    columns = odd.filter(measure=MOVED)["column"].to_list()
    if columns and not any(map(lasts, columns)):
        shares = on_a_line({"moved": dict.fromkeys(columns, 1.0)})[1:-1]
        yield f"If they change as often in every release, write under expect: {shares}."
    if RENAMED not in odd["measure"]:
        for found in odd.filter(measure="changed")["found"]:
            share = math.ceil(found * 20) / 20
            yield (
                f"If as many change in every release, write under expect: changed: {share}; values that come"
                " and go are semantics: transient."
            )


def _renamed(parts: Sequence[Compared]) -> pl.DataFrame | None:
    moved = [part.moved for part in parts if part.moved is not None]
    return suspected_renamings(pl.concat(moved)) if moved else None


def _merged(parts: Sequence[Compared]) -> pl.DataFrame:
    """Labels of quasi-identifiers that look split, merged or renamed."""
    return suspected_renamings(_of_all(parts, "labels"))


def compare_shard(known: Crosswalk | None, job: ShardJob) -> Compared:
    """Compare the snapshots of one shard, and keep the changes."""
    before, now = _snapshots(job)
    series = job.shard.series
    if before is not None and known is not None:
        known.refuse_taken(before.table[IDENTIFIER], f"{series.name} {job.release}")
    changes = changes_between(before, now)
    if (corrected := corrections_of(job.shard, job.release, before, now, known)) is not None:
        changes = changes.with_columns(pl.col(PSEUDONYM).is_in(corrected.implode()).alias(CORRECTED))
    write_working_table(job.own / UNJUDGED, changes)
    return compare_people(before, now, changes, job.shard.contract)


def compare_people(
    before: Snapshot | None, now: Snapshot, changes: pl.DataFrame, contract: Product
) -> Compared:
    """Count what became of people between two snapshots; `changes` is what became of each."""
    sensitive = contract.sensitive
    values = None if sensitive is None else count_values(now.table, sensitive)
    if before is None:
        nobody = named(now.table[IDENTIFIER].clear())
        nothing = nobody_moved(), no_labels_moved()
        return Compared(delta_figures(changes), None, nobody, nobody, values, nobody, *nothing)
    has_values = VALUE in now.table.columns and _sensitive_names(before) == _sensitive_names(now)
    people, people_now = _people(before, now)
    gone, new = _alone(people, people_now), _alone(people_now, people)
    stayed = _in_text(people.head(2 * len(gone))).join(gone, on="text", how="anti")
    figures = replace(delta_figures(changes), drifted=drifted(gone, new))
    moved = moves_by_column(before.table, now.table, sensitive) if has_values else None
    most = MOST_COMPARED + 1
    former, latter = (by_name(one.table, one.columns) for one in (before, now))
    stayers = in_both(former, latter, contract)
    elsewhere, labels = moved_by_column(stayers, contract), labels_moved(stayers, former, latter, contract)
    return Compared(figures, moved, gone.head(most), new.head(most), values, stayed, elsewhere, labels)


def _people(*snapshots: Snapshot) -> Iterator[pl.DataFrame]:
    """People of several snapshots by pseudonyms and identifiers, with the columns that all of these have."""
    columns = [
        {name: column for column, name in one.columns.items() if column in one.table.columns}
        for one in snapshots
    ]
    shared = sorted(set.intersection(*(set(one) for one in columns)))
    for one, there in zip(snapshots, columns, strict=True):
        rest = (one.table[there[name]] for name in shared if there[name] != IDENTIFIER)
        numbered = (column.alias(f"rest_{at}") for at, column in enumerate(rest))
        yield named(one.table[IDENTIFIER]).with_columns(persons_of(one.table[PSEUDONYM]), *numbered)


def _alone(people: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The people of one snapshot alone, each once, as `named` has them; parameters are from `_people`."""
    there = others.select(PSEUDONYM, there=pl.lit(value=True))
    alone = joined_by_names(people, there, "left").filter(pl.col("there").is_null()).drop("there")
    return _in_text(alone).unique("text", maintain_order=True)


def _in_text(people: pl.DataFrame) -> pl.DataFrame:
    return people.drop(PSEUDONYM).cast(pl.String)


def _snapshots(job: ShardJob) -> tuple[Snapshot | None, Snapshot]:
    """The snapshot before, if there is one, and that of the release."""
    now = kept_snapshot(job.own)
    assert now is not None
    return kept_snapshot(job.predecessor.folder) if job.predecessor.folder else None, now


def _together(parts: Sequence[Compared], renamed: Sequence[pl.DataFrame]) -> DeltaFigures:
    """Changes in all shards, with how many people may be somebody who left, or have a renamed value."""
    figures = DeltaFigures.of_all([part.figures for part in parts])
    if figures.drifted is None:
        return figures
    gone, new, stayed = (_of_all(parts, kind) for kind in ("gone", "new", "stayed"))
    return replace(
        figures,
        alike=count_alike(gone, new, stayed),
        renamed=sum(int(one["people"].sum()) for one in renamed),
        all_but_one_character=all_but_one_character(gone, new),
        extended=extended(gone, new),
    )


def _of_all(parts: Sequence[Compared], kind: str) -> pl.DataFrame:
    people: list[pl.DataFrame] = [getattr(part, kind) for part in parts]
    return pl.concat(people)


def _other_form(before: Snapshot | None, now: Snapshot) -> str | None:
    """A sentence on how a shard's identifiers differ from those before, if most do by nothing else."""
    return None if before is None else changed_form(before.table[IDENTIFIER], now.table[IDENTIFIER])


def _ways_of_renaming(parts: Sequence[Compared], contract: Product) -> Iterator[str]:
    if (renamed := _renamed(parts)) is not None and len(renamed):
        yield _way_out(renamed, contract)
    if len(merged := _merged(parts)):
        yield f"{'; '.join(describe_renamings(merged, counted_in(contract)))}. {MERGED}"


def _way_out(renamed: pl.DataFrame, contract: Product) -> str:
    """Which values look renamed, and what the contract may say of them."""
    declared = declarable(renamed)
    line = on_a_line({"renamed": declared})[1:-1]
    ways = [f"write under sensitive: {line}"] if declared else []
    if declared and contract.sensitive is not None and contract.sensitive.is_several:
        ways = ["write renamed under its column in sensitive, {own name: the source's}"]
    if len(declared) < renamed.height:
        ways.append(
            "where a value was split, merged or recoded as a number, undo that in the source, or publish the"
            " level above (sensitive.hierarchy, level) in a series that supersedes this one"
        )
    return (
        f"{'; '.join(describe_renamings(renamed, counted_in(contract)))}. Two names of one value give away"
        f" the people who have it: if it is the same value, {', and '.join(ways)}."
    )


def _judged(figures: DeltaFigures, evidence: pl.DataFrame, contract: Product) -> Delta:
    words = describe_expected(evidence, counted_in(contract))
    if figures.corrected:
        words += f"; {figures.corrected:,} more have the right one of what was wrong so far"
    if figures.all_but_one_character:
        words += f"; {ONE_CHARACTER.format(figures.all_but_one_character)}"
    verdict = judge({EXPECTED: evidence}, {})[0].with_words(words, evidence)
    return Delta(figures, evidence, verdict)


def _why_moved(
    columns: Sequence[str], contract: Product, before: Snapshot | None, now: Snapshot
) -> Iterator[str]:
    if before is not None:
        former, latter = (by_name(one.table, one.columns) for one in (before, now))
        yield why_moved(columns, former, latter, contract, now.table.select(PSEUDONYM, IDENTIFIER))


def _one_character(parts: Sequence[Compared]) -> str | None:
    found = all_but_one_character(*(_of_all(parts, kind) for kind in ("gone", "new")))
    return ONE_CHARACTER.format(found) if found else None


def _sensitive_names(snapshot: Snapshot) -> list[str]:
    """The publisher's names of the sensitive columns."""
    return [name for column, name in snapshot.columns.items() if column.startswith(VALUE)]


def changes_between(before: Snapshot | None, now: Snapshot) -> pl.DataFrame:
    """What became of each person between two snapshots (`delta`).

    Columns are compared under the publisher's names: ours may have moved.
    """
    if before is None:
        return delta(None, now.table, {})
    former = {name: column for column, name in before.columns.items() if column in before.table.columns}
    shared = {
        column: former[name]
        for column, name in now.columns.items()
        if column not in (IDENTIFIER, VALUE) and name in former and column in now.table.columns
    }
    return delta(before.table, now.table, shared)
