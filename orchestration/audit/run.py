"""The audit of whole series: every release attacked in order, then all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from anonymize.attack.assignments import MOST_PEOPLE, Choices, SeenSeries, choices_of
from anonymize.attack.combinations import Combinations
from anonymize.attack.equivalence import Equivalence, minimum_equivalence
from anonymize.attack.figures import AttackFigures, EquivalenceFigures, RiskFigures
from anonymize.attack.finding import Found
from anonymize.attack.guessing import Guesses, guess_values
from anonymize.attack.intersection import SCOPES, candidates, distribution, intersected
from anonymize.attack.knowledge import Knowledge
from anonymize.attack.presence import Presence, guess_presence
from anonymize.attack.same_values import CONTENTS, MEMBERS
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Product, Schema, View
from anonymize.errors import PublishedFolderError
from anonymize.formats import Format, Published
from anonymize.formats.published import GROUP, knowledge_table
from anonymize.people.renaming import moves, suspected_renamings
from anonymize.principles import principle_of, publisher_of
from anonymize.promise import Part, Posterior, Promise
from anonymize.promise.attacked import ReleaseAttack
from anonymize.promise.attacked import attack as attack_one
from anonymize.promise.owed import ENTRIES
from anonymize.promise.registry import kinds_of
from anonymize.text import Text
from anonymize.utility.usefulness import Usefulness, usefulness
from anonymize.utility.views import view_usefulness
from orchestration.audit.read.folders import (
    PublishedSeries,
    Reading,
    ReleaseFiles,
    format_of,
    metadata_finding,
    read_linkage,
    read_release,
    read_truth,
)
from orchestration.audit.read.foreign import Foreign
from orchestration.audit.read.manifests import chain_finding, claims_finding, held_back
from orchestration.audit.read.texts import compare_texts
from orchestration.contracts.contract_file import ContractFile
from orchestration.storage.manifest import MANIFEST
from orchestration.unforeseen import named


@dataclass(frozen=True)
class Material:
    """Where everything is that an audit reads."""

    file: ContractFile
    series: list[PublishedSeries]
    truth: Path
    private: Path | None
    foreign: Foreign | None
    reading: Reading
    previous: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """The releases of others that the contract names: `previous_0`, …."""
    believes_manifests: bool = True
    """Whether releases are judged by what their manifests say they promise, or all by the contract."""

    @property
    def contract(self) -> Product:
        """What the columns are and what is promised."""
        return self.file.contract

    @property
    def asked(self) -> Promise:
        """What releases are to keep: what the mapping of another tool's tables says, or the contract."""
        elsewhere = self.foreign.promise if self.foreign else None
        return elsewhere or principle_of(self.contract).promise(self.contract.principle)


@dataclass(frozen=True)
class AttackedRelease:
    """One release, attacked with all that came before it."""

    name: str
    tuples: int
    attack: ReleaseAttack
    seen: Choices | None = None
    """For the attack on all releases together; None where there are too many people."""
    useful: Usefulness | None = None
    """What the release is worth; None where it has entries that can't be read, or nobody is in the truth."""
    guesses: Guesses | None = None
    """What is guessed right after learning from the groups."""
    known: pl.DataFrame | None = None
    """The truth, `person`, `value`, `qi_0`, … as codes; of the last release alone."""
    published: Published | None = None
    """The groups; of the last release alone."""
    renamed: pl.DataFrame | None = None
    """Values that look renamed since the release before; None where there is nothing to compare."""
    words_not_compared: str | None = None
    """Why the words of its texts were not compared with the contract; None if they were."""
    bytes_not_compared: str | None = None
    """Why its tables were not compared, byte for byte, with what republish writes; None if they were."""


@dataclass(frozen=True)
class AttackedSeries:
    """All releases of a series."""

    name: str
    releases: list[AttackedRelease]
    equivalences: list[Equivalence]
    """The smallest attack per signature; empty where it wasn't attacked."""
    whole: Mapping[type[Part], Found] = field(default_factory=dict)
    """What all releases together allow, by the part of the promise that it is about."""
    why_no_assignments: str | None = None
    """If it should have been."""
    presence: Presence | None = None
    """How well people in the last release are told from people of earlier ones; None if there are too few."""
    before: AttackedSeries | None = None
    """The series that it goes on from: it was attacked with everything known from there."""

    @property
    def chain(self) -> list[AttackedRelease]:
        """Its releases after those of the series that it goes on from."""
        return [*(self.before.chain if self.before else []), *self.releases]

    @property
    def figures(self) -> dict[str, Any]:
        """What the parts of a promise are shown by: figures of the last release, and of the whole series."""
        sizes = sorted((one.e, one.at_least) for one in self.equivalences if one.e is not None)
        return {
            **self.releases[-1].attack.figures,
            **EquivalenceFigures(sizes[0][0] if sizes else None, [e for e, _ in sizes]).as_json(),
            **self.of_all_releases,
        }

    @property
    def of_all_releases(self) -> dict[str, Any]:
        """Figures of what all releases together allow."""
        found = [one.figures.as_json() for one in self.whole.values()]
        return {name: figure for figures in found for name, figure in figures.items()}

    @property
    def knowledge(self) -> Knowledge:
        """What an adversary knows in the end."""
        return self.releases[-1].attack.knowledge

    @property
    def in_groups(self) -> bool:
        """Whether releases are of groups, so that candidate values could be intersected."""
        return self.knowledge.covered is not None

    def promises(self) -> pl.DataFrame:
        """One row per promise, over all releases: the release that breaks it most, else the last one."""
        found = [(release.name, release.attack.findings) for release in self.releases]
        for kind, whole in self.whole.items():
            counted = [kind.scopes[scope].finding(count) for scope, count in whole.counts.items()]
            found.append((self.releases[-1].name, pl.concat(counted)))
        rows = pl.concat(
            findings.with_columns(pl.lit(name).alias("release"), pl.lit(n).alias("n"))
            for n, (name, findings) in enumerate(found)
        )
        where = pl.col("release").filter(~pl.col("holds"))
        worst = pl.all().sort_by("broken", "n").last()
        return (
            rows.group_by("promise", maintain_order=True)
            .agg(worst, where.alias("broken_in"))
            .with_columns(pl.lit(self.name).alias("series"))
            .drop("release", "n")
        )


@dataclass(frozen=True)
class Gap:
    """Something that a reader might believe was looked at."""

    what: str
    """With `{}` in the place of each count of people."""
    why: str
    people: tuple[int, ...] = ()
    """The counts: a report that is handed out does not show small ones."""
    series: str | None = None
    """The series that it is about, if it is about one."""


ALL_SERIES = Text("all series together")
"""What is said in place of a series' name."""


@dataclass(frozen=True)
class Findings:
    """What the audit came to."""

    contract: Product
    promise: Promise
    """What is asked for today."""
    series: list[AttackedSeries]
    together: pl.DataFrame | None
    """Evidence over all series, if there is more than one."""
    not_covered: list[Gap] = field(default_factory=list)
    """What was not looked at, and why."""
    asked: pl.DataFrame | None = None
    """What the contract asks for, as `promises` has it, and `taken_up`: whether the last release of the
    series, or a series that goes on from it, promises that. None where every release promises it."""

    def promises(self) -> pl.DataFrame:
        """One row per series and promise: `series`, `promise`, `people`, `broken`, … `broken_in`."""
        rows = [one.promises() for one in self.series]
        if self.together is not None:
            rows.append(
                self.together.with_columns(
                    pl.lit(str(ALL_SERIES)).alias("series"),
                    pl.lit([], dtype=pl.List(pl.String)).alias("broken_in"),
                )
            )
        return pl.concat(rows, how="diagonal").select(
            "series",
            "promise",
            "people",
            "broken",
            "undecided",
            "found",
            "required",
            "bound",
            "holds",
            "broken_in",
        )

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return bool(self.promises()["holds"].all())

    @property
    def keeps_contract(self) -> bool:
        """Whether every promise is kept, and the contract asks for no more than was promised."""
        return self.holds and self.missed.is_empty()

    @property
    def missed(self) -> pl.DataFrame:
        """What the contract asks for and the releases, which keep what they promised, never took up."""
        rows = self.promises()
        if self.asked is None:
            return rows.clear()
        kept = rows.filter("holds").select("series", "promise")
        never = self.asked.filter(~pl.col("holds") & ~pl.col("taken_up"))
        return never.join(kept, on=["series", "promise"], how="semi")


def steps(material: Material) -> int:
    """How many steps `attack` takes, for a progress bar."""
    times = 2 if _promise_otherwise(material) else 1
    return times * sum(len(one.releases) + 2 for one in material.series)


def _promise_otherwise(material: Material) -> bool:
    """Whether some release promised something else than the contract asks for."""
    return any(
        promise != material.asked
        for series in material.series
        for promise in promises_of(material, series, len(series.releases))
    )


def _never_took_up(material: Material) -> list[str]:
    """The series whose last release promises something else than the contract asks for."""
    gone_on = [one.before.name for one in material.series if one.before]
    return [
        one.name
        for one in material.series
        if one.name not in gone_on and promises_of(material, one, len(one.releases))[-1] != material.asked
    ]


def attack(material: Material, seconds: float) -> Iterator[str | Findings]:
    """Run every attack; yields the name of each step as it begins, and the findings at the end.

    Everybody is judged by what the releases promised. Where that is not what the contract asks for, the
    attacks are run again, and everybody is judged by the contract.

    Parameters
    ----------
    material
        What to read.
    seconds
        Time for the equivalence attack on each series.
    """
    found = yield from _attack(material, seconds)
    if _promise_otherwise(material):
        asked = yield from _attack(replace(material, believes_manifests=False), seconds)
        rows = asked.promises().with_columns(taken_up=~pl.col("series").is_in(_never_took_up(material)))
        found = replace(found, asked=rows)
    yield found


def _attack(material: Material, seconds: float) -> Generator[str, None, Findings]:
    attacked: dict[str, AttackedSeries] = {}
    domain = None
    for series in material.series:
        releases: list[AttackedRelease] = []
        ever: list[pl.DataFrame] = []
        before = attacked[series.before.name] if series.before else None
        knowledge = before.knowledge if before else Knowledge(domain=domain, releases=material.previous)
        for number, _ in enumerate(series.releases, start=1):
            yield f"{series.name} {series.releases[number - 1].name}"
            releases.append(_attack_release(material, series, number, knowledge, seconds))
            knowledge = releases[-1].attack.knowledge
            ever = _with_places(ever, releases[-1].known)
            if number > 1:
                releases[-1] = replace(releases[-1], renamed=_renamings(*releases[-2:]))
            # What was carried over is only kept once.
            if number > 1:
                releases[-2] = _forget(releases[-2])
        yield f"{series.name}: who has the same value as whom"
        one = AttackedSeries(
            series.name,
            releases,
            _equivalences(knowledge, seconds),
            presence=_presence(releases[-1], ever),
            before=before,
        )
        yield f"{series.name}: who can have which value"
        attacked[series.name] = _as_a_whole(one, material, series)
        domain = knowledge.domain
    found = list(attacked.values())
    return Findings(
        material.contract,
        material.asked,
        found,
        _together(found, material.asked),
        _not_covered(material, found),
    )


def _attack_release(
    material: Material, series: PublishedSeries, number: int, knowledge: Knowledge, seconds: float
) -> AttackedRelease:
    with named(series.releases[number - 1].path):
        return _attacked_release(material, series, number, knowledge, seconds)


def _attacked_release(
    material: Material, series: PublishedSeries, number: int, knowledge: Knowledge, seconds: float
) -> AttackedRelease:
    release = series.releases[number - 1]
    contract, reading = material.contract, material.reading
    release_format = format_of(release, contract, material.foreign)
    tables = read_release(release, release_format, contract, material.foreign, reading)
    people = read_truth(material.truth, release.name, contract, reading)
    people = _like_published(people, release_format, tables, contract, knowledge, release.path)
    linkage = (
        read_linkage(material.private, series.name, release.name, contract, reading)
        if material.private
        else None
    )
    found = attack_one(
        contract.table_schema,
        release_format,
        tables,
        people,
        _judged_by(material, series, number),
        knowledge,
        linkage=linkage,
        held_back=held_back(release),
        is_own_format=material.foreign is None,
        everything=True,
        seconds=seconds,
        publish=None if material.foreign else publisher_of(contract),
    )
    stated = [
        chain_finding(series, number),
        claims_finding(release, release_format, contract, tables, len(people)),
    ]
    rows = [found.findings, *(row for row in stated if row is not None)]
    texts = compare_texts(release, release_format, material.file, tables)
    metadata, is_compared = metadata_finding(release, release_format, contract, texts.differ)
    rows.append(metadata)
    found = replace(found, findings=pl.concat(rows))
    schema = contract.table_schema
    main, *_ = release_format.tables(contract)
    attacked = AttackedRelease(
        release.name,
        len(tables[main]),
        found,
        words_not_compared=texts.not_compared,
        bytes_not_compared=None if is_compared else Text("another version of polars wrote them."),
    )
    if release_format.attack == "join":
        return replace(attacked, useful=_useful_view(release_format, tables, people, contract, release))
    if not found.findings.filter(promise=ENTRIES.scope.name)["holds"].all():
        return attacked
    assert isinstance(schema, Schema)
    grouped = {name: table.with_columns(GROUP) for name, table in tables.items()}
    internal = release_format.internal(grouped, contract)
    published, known = release_format.read(internal, contract), knowledge_table(people, schema)
    return replace(
        attacked,
        seen=choices_of(known, published, schema.sensitive, linkage) if len(people) <= MOST_PEOPLE else None,
        useful=usefulness(release_format, internal, published, schema, known) if people.height else None,
        guesses=guess_values(known, published, schema, linkage),
        known=known,
        published=published,
    )


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
    """Everybody's last quasi-identifiers, after one more release."""
    if known is None:
        return ever
    return [pl.concat([*ever, known.drop(VALUE)]).unique("person", keep="last", maintain_order=True)]


def _presence(last: AttackedRelease, ever: list[pl.DataFrame]) -> Presence | None:
    if last.known is None or last.published is None:
        return None
    (everybody,) = ever
    outside = everybody.join(last.known, on="person", how="anti", maintain_order="left")
    return guess_presence(last.known, outside, last.published)


def _renamings(before: AttackedRelease, now: AttackedRelease) -> pl.DataFrame | None:
    if before.known is None or now.known is None:
        return None
    known = (one.rename({"person": PSEUDONYM}) for one in (before.known, now.known))
    return suspected_renamings(moves(*known))


def _like_published(
    people: pl.DataFrame,
    release_format: Format,
    tables: Mapping[str, pl.DataFrame],
    contract: Product,
    knowledge: Knowledge,
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
    if knowledge.domain is not None and knowledge.domain.schema[VALUE] != dtype:
        raise PublishedFolderError(
            f"{where}: column {contract.sensitive.name} is {dtype}, and was {knowledge.domain.schema[VALUE]}"
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
        why = Text(
            "a release has more than {most:,} people, or entries that can't be read.", most=MOST_PEOPLE
        )
    elif not is_linked and any(held_back(release) for release in series.chain):
        why = Text("which people a release holds back is known with the private folder alone (--private).")
    if why is not None:
        return replace(attacked, why_no_assignments=why)
    rows = [release.attack.findings for release in attacked.chain]
    kept = pl.concat(rows).group_by("promise").agg(pl.len(), pl.col("holds").all())
    state = attacked.knowledge.hosted if is_linked else attacked.knowledge.covered
    assert state is not None
    whole = SeenSeries(
        [one for one in seen if one is not None],
        candidates([state], "value").select("person", VALUE, "promised"),
        kept.filter(pl.col("holds") & (pl.col("len") == len(rows)))["promise"].to_list(),
        is_linked,
    )
    found = {kind: kind.attack_series(whole, promises) for kind in kinds}
    return replace(attacked, whole={kind: one for kind, one in found.items() if one is not None})


def _judged_by(material: Material, series: PublishedSeries, number: int) -> list[Promise]:
    promises = promises_of(material, series, number)
    if material.believes_manifests:
        return promises
    return [material.asked] * len(promises)


def promises_of(material: Material, series: PublishedSeries, number: int) -> list[Promise]:
    """What the first releases of a series each promised to the people they published first.

    The promises of the series that it goes on from come first: people who were published there keep them.
    A manifest of the contract's own principle states the parameters of its release; where there is none, what
    the contract or the mapping asks for counts.

    Raises
    ------
    PublishedFolderError
        If a manifest's parameters are none of the principle's.
    """
    principle = principle_of(material.contract)
    promises = []
    for release in [*(series.before.chain if series.before else []), *series.releases[:number]]:
        stated = (release.manifest or {}).get("principle")
        promise = material.asked
        if isinstance(stated, dict) and stated.get("name") == principle.name:
            try:
                promise = principle.promise(principle.parameters.model_validate(stated))
            except ValidationError as error:
                fault = error.errors()[0]
                where = ".".join(map(str, ("principle", *fault["loc"])))
                raise PublishedFolderError(f"{release.path / MANIFEST}: {where}: {fault['msg']}") from None
        promises.append(promise)
    return promises


def _forget(release: AttackedRelease) -> AttackedRelease:
    return replace(release, attack=replace(release.attack, knowledge=Knowledge()), known=None, published=None)


def _equivalences(knowledge: Knowledge, seconds: float) -> list[Equivalence]:
    members = knowledge.parts.get(MEMBERS)
    if members is None or members.is_empty():
        return []
    return minimum_equivalence(members, knowledge.parts[CONTENTS], seconds=seconds)


def _together(attacked: list[AttackedSeries], asked: Promise) -> pl.DataFrame | None:
    """All series are out there: what is left of each person when they are intersected with each other.

    A series that goes on from another one was attacked with it already, and stands for both.
    """
    gone_on = [one.before.name for one in attacked if one.before]
    known = [one.knowledge for one in attacked if one.name not in gone_on]
    if len(known) < 2:
        return None
    rows = [
        part.scopes[scope].finding(count)
        for part in asked
        if (found := part.attack_together(known, part)) is not None
        for scope, count in found.counts.items()
    ]
    return pl.concat(rows) if rows else None


def intersection_table(series: AttackedSeries) -> pl.DataFrame:
    """What intersecting comes to by what an adversary links: `linked`, `attacked`, `vulnerable`, …."""
    covered = series.knowledge.covered
    if covered is None:
        return pl.DataFrame()
    made_of = Combinations.of(series.knowledge.domain)
    return pl.DataFrame(
        [{"linked": scope} | intersected(candidates([covered], scope, made_of)).as_json() for scope in SCOPES]
    )


def final_distribution(series: AttackedSeries) -> pl.DataFrame:
    """`candidates`, `people`: everybody ever published, by what is left of them."""
    covered = series.knowledge.covered
    if covered is None:
        return pl.DataFrame()
    return distribution(candidates([covered], combinations=Combinations.of(series.knowledge.domain)))


def _not_covered(material: Material, attacked: list[AttackedSeries]) -> list[Gap]:
    """What a reader might believe was looked at."""
    grouped = [one for one in attacked if one.in_groups]
    gaps = [] if material.private else [_hosts_unknown(one) for one in grouped] + _unlinked_gaps(material)
    gaps += [gap for one in grouped for gap in _equivalence_gaps(one)]
    gaps += [gap for one in grouped for gap in _assignment_gaps(one)]
    gaps += [SEVERAL_VIEWS] if len(attacked) > len(grouped) and len(attacked) > 1 else []
    gaps += [_shards_unknown(material.contract.shards)] if material.contract.shards > 1 else []
    gaps += [gap for one in attacked for gap in _word_gaps(one)]
    gaps += [gap for one in attacked for gap in _renaming_gaps(one)]
    for series in material.series:
        without = sum(release.manifest is None for release in series.releases)
        if without:
            what = Text(
                "whether {without} of {releases} releases are as published",
                without=without,
                releases=len(series.releases),
            )
            why = Text("they have no manifest to be held against.")
            gaps.append(Gap(what, why, series=series.name))
    sensitive = material.contract.sensitive
    if sensitive is not None and sensitive.semantics == "transient":
        gaps.append(TRANSIENT)
    if sensitive is not None and sensitive.not_sensitive:
        values = _braced(", ".join(map(str, sensitive.not_sensitive)))
        gaps.append(Gap(Text("People whose value may be known ({values})", values=values), MAY_BE_KNOWN))
    rows = [one.promises().filter(promise=Posterior.scopes[""].name, undecided=0) for one in attacked]
    return gaps + ([] if attacked and all(map(len, rows)) else [ALGORITHM]) + NEVER_COVERED


def _shards_unknown(shards: int) -> Gap:
    what = Text(
        "Adversaries who know in which of {shards} shards each person is, and no groups", shards=shards
    )
    return Gap(
        what,
        "the attacks took whole tables, as anybody has them. Shard by shard, republish attacks each release"
        " before it is published.",
    )


def _word_gaps(series: AttackedSeries) -> list[Gap]:
    releases = len(series.releases)
    words = Counter(why for one in series.releases if (why := one.words_not_compared) is not None)
    bytes_ = Counter(why for one in series.releases if (why := one.bytes_not_compared) is not None)
    return [
        Gap(
            Text(
                "titles, descriptions and terms in the texts of {some} of {releases} releases",
                some=some,
                releases=releases,
            ),
            why,
            series=series.name,
        )
        for why, some in words.items()
    ] + [
        Gap(
            Text(
                "bytes between the rows in the tables of {some} of {releases} releases",
                some=some,
                releases=releases,
            ),
            why,
            series=series.name,
        )
        for why, some in bytes_.items()
    ]


def _renaming_gaps(series: AttackedSeries) -> list[Gap]:
    return [
        Gap(
            Text(
                "whether “{gone}” of one release and “{became}” of {release} are one value: {{}} of {{}}"
                " people have the second in place of the first",
                gone=_braced(str(gone)),
                became=_braced("”, “".join(map(str, became))),
                release=release.name,
            ),
            Text(
                "values are told apart by their names. If they are one value, declare it (sensitive.renamed)"
                " and audit again."
            ),
            (people, stayed),
            series.name,
        )
        for release in series.releases
        if release.renamed is not None
        for gone, became, people, stayed, _ in release.renamed.iter_rows()
    ]


def _braced(name: str) -> str:
    """A name whose braces are no places for counts."""
    return name.replace("{", "{{").replace("}", "}}")


SEVERAL_VIEWS = Gap(
    "Several series of views with each other",
    "each series was joined with the releases before it, and with those that the contract names.",
)
TRANSIENT = Gap(
    "Values that come and go",
    "candidate sets are intersected over the releases in which a person had the same value; for having"
    " had a value at any time, see the breach probabilities.",
)
ALGORITHM = Gap(
    "Adversaries who know the publisher's algorithm",
    "the attack takes time exponential in the number of people. It is run on single releases of at most four"
    " people, and on tiny instances in the software's own tests and benchmarks.",
)
MAY_BE_KNOWN = Text(
    "nothing is promised to them. As candidates of others, such values count as often as a group has them"
    " beside a sensitive value."
)
ONE_GROUP_EACH = Gap(
    "whether people are in the groups that the publisher put them in",
    "no private folder was given (--private). Each person in the last release is covered by one group alone,"
    " and the attacks took it for the person's group.",
)
NEVER_COVERED = [
    Gap(
        "Adversaries who know some people's sensitive values, or from elsewhere how values depend on"
        " quasi-identifiers",
        "the background knowledge assumed is everybody's presence and quasi-identifiers, no values. What can"
        " be learned from the releases themselves is a figure that is not promised.",
    ),
    Gap(
        "Times and owners of the files where they are offered for download",
        "they are not part of the folders' content and change with every copy.",
    ),
]


def _hosts_unknown(series: AttackedSeries) -> Gap:
    found = AttackFigures.of(series.releases[-1].attack.figures)
    if found.hosts_known == found.people:
        return replace(ONE_GROUP_EACH, series=series.name)
    return Gap(
        "the groups of {} of {} people in the last release",
        "no single group covers these people, and no private folder was given (--private). The audit could"
        " not check them group by group. The equivalence attack leaves out the groups that may have them, and"
        " breach probabilities leave out these people.",
        (found.people - found.hosts_known, found.people),
        series.name,
    )


def _unlinked_gaps(material: Material) -> list[Gap]:
    """What the last release of each series promises and only people's groups can show."""
    return [
        Gap(part.needs_hosts, Text("no private folder was given (--private)."), series=series.name)
        for series in material.series
        for part in promises_of(material, series, len(series.releases))[-1]
        if part.needs_hosts is not None
    ]


def _assignment_gaps(series: AttackedSeries) -> list[Gap]:
    what = Text("values that no assignment of tuples to people allows, and exact risks")
    if series.why_no_assignments is not None:
        return [Gap(what, series.why_no_assignments, series=series.name)]
    gaps = []
    for found in (one.figures for one in series.whole.values() if isinstance(one.figures, RiskFigures)):
        if found.decided < found.tuples:
            gaps.append(
                Gap(
                    "exact risks of {} of {} tuples",
                    "too many people share the groups that may hold them. Values that no assignment allows"
                    " were struck off for them too; with the private folder, the groups themselves bound the"
                    " risk (signature invariance).",
                    (found.tuples - found.decided, found.tuples),
                    series.name,
                )
            )
        if found.left_out:
            why = Text("{releases} releases allow too many choices.", releases=found.left_out)
            gaps.append(Gap(what, why, series=series.name))
    return gaps


def _equivalence_gaps(series: AttackedSeries) -> list[Gap]:
    if not series.equivalences:
        what, why = Text("who has the same value as whom"), Text("no group's people are all known.")
        return [Gap(what, why, series=series.name)]
    unproven = sum(not found.proven for found in series.equivalences)
    if not unproven:
        return []
    return [
        Gap(
            Text(
                "equivalence on {unproven} of {parts} parts",
                unproven=unproven,
                parts=len(series.equivalences),
            ),
            "the time was too short, or the series too large, to prove the smallest; the one found is"
            " given, and a bound. A part is a signature; the last one is all of them together. Give more"
            " time (--seconds).",
            series=series.name,
        )
    ]
