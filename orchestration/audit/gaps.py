"""What a reader of a report might believe was looked at, and was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.attack.bits import bitsets
from republish.anonymize.attack.figures import AttackFigures, RiskFigures
from republish.anonymize.attack.intersection import left_of, words
from republish.anonymize.columns import VALUE
from republish.anonymize.contract.earlier import gone_policies, gone_promises
from republish.anonymize.people.rows import has_several_rows
from republish.anonymize.promise import Posterior
from republish.orchestration.audit.findings import AttackedSeries, Gap, braced
from republish.orchestration.audit.read.folders import PublishedSeries, ReleaseFiles
from republish.orchestration.audit.read.material import Material, promises_of
from republish.orchestration.snapshots.no_answer import no_answers


def not_covered(material: Material, attacked: list[AttackedSeries]) -> list[Gap]:
    """What a reader might believe was looked at."""
    grouped = [one for one in attacked if one.in_groups]
    gaps = [] if material.private else [_hosts_unknown(one) for one in grouped] + _unlinked_gaps(material)
    gaps += [gap for one in grouped for gap in _equivalence_gaps(one)]
    gaps += [gap for one in grouped for gap in _assignment_gaps(one)]
    gaps += [SEVERAL_VIEWS] if len(attacked) > len(grouped) and len(attacked) > 1 else []
    gaps += [gap for series in material.series if (gap := _column_gap(material, series)) is not None]
    gaps += _shard_gaps(material, attacked)
    gaps += [gap for one in attacked for gap in (*_silent_gaps(one), *_word_gaps(one))]
    gaps += [gap for one in attacked for gap in _renaming_gaps(one)]
    gaps += [gap for one in attacked for release in one.releases for gap in release.other_names]
    gaps += [gap for one in attacked for gap in _no_answer_gaps(one, material)]
    for series in material.series:
        without = sum(release.manifest is None for release in series.releases)
        if without:
            what = f"whether {without} of {len(series.releases)} releases are as published"
            why = "they have no manifest to be held against."
            gaps.append(Gap(what, why, series=series.name))
    sensitive = material.contract.sensitive
    if sensitive is not None and sensitive.semantics == "transient":
        gaps.append(TRANSIENT)
    if sensitive is not None and sensitive.not_sensitive:
        values = braced(", ".join(map(str, sensitive.not_sensitive)))
        gaps.append(Gap(f"People whose value may be known ({values})", MAY_BE_KNOWN))
    gaps += _left_out_gaps(material)
    gaps += [gap for series in material.series for gap in _earlier_gaps(material, series)]
    rows = [one.promises().filter(promise=Posterior.scopes[""].name, undecided=0) for one in attacked]
    gaps += [] if attacked and all(map(len, rows)) else [ALGORITHM]
    gaps += [OWN_ALGORITHM] if material.foreign is not None else []
    spelt = sum(one.spelt for one in material.reading.cells.values())
    gaps += [replace(SPELT, people=(spelt,))] if spelt else []
    return [*gaps, *NEVER_COVERED]


def _left_out_gaps(material: Material) -> list[Gap]:
    """People whom the releases of each series leave out for want of a value, by its column."""
    contract, left_out = material.contract, material.reading.left_out
    names = [one.name for _, one in contract.all_columns() if one.missing == "leave_out"]
    sensitive = [one.name for _, one in contract.sensitive_columns()]
    gaps = []
    for series, name in product(material.series, names):
        people = sum(left_out.get(release.name, {}).get(name, 0) for release in series.releases)
        whom, one = ("rows that", "row") if has_several_rows(contract) else ("people whom", "person")
        what = (
            f"{{}} {whom} releases leave out because {braced(name)} is missing (a {one} counts in each of"
            " them)"
        )
        if people or name in sensitive:
            gaps.append(Gap(what, LEFT_OUT, (people,), series.name))
    return gaps


def _earlier_gaps(material: Material, series: PublishedSeries) -> list[Gap]:
    """What releases of an earlier version promised, or did to people, and no attack tries any more."""
    stated = [_principle_stated(release, material) for release in series.releases]
    policies = [gone_policies(one) for one in stated]
    names = ", ".join(sorted({policy for one in policies for policy in one.values()}))
    promises = sorted({name for one in stated for name in gone_promises(one)})
    held_back, far_apart = sum(map(bool, policies)), sum(bool(gone_promises(one)) for one in stated)
    found = [
        (f"people who are held back for their value ({names})", held_back, ONES_HELD_BACK),
        (f"how far apart candidates are ({', '.join(promises)})", far_apart, FAR_APART),
    ]
    return [
        Gap(f"{what} in {releases} of {len(stated)} releases", why, series=series.name)
        for what, releases, why in found
        if releases
    ]


def _principle_stated(release: ReleaseFiles, material: Material) -> Mapping[str, Any]:
    """The principle's parameters, as a release's manifest states them or, without one, the contract."""
    if release.manifest is None:
        return material.file.stated
    stated = release.manifest.get("principle")
    return stated if isinstance(stated, dict) else {}


def _shard_gaps(material: Material, attacked: list[AttackedSeries]) -> list[Gap]:
    """Adversaries who know another thing of shards than those of the attacks."""
    shards = material.contract.shards
    if shards == 1:
        return []
    if material.goes_by_shard:
        what = (
            f"Adversaries who do not know in which of {shards} shards each person is; of the largest,"
            f" {{}} people were attacked together"
        )
        return [Gap(what, BY_SHARD, (one.largest_shard,), one.name) for one in attacked]
    what = f"Adversaries who know in which of {shards} shards each person is, and no groups"
    return [Gap(what, WITHOUT_SHARDS)]


def _column_gap(material: Material, series: PublishedSeries) -> Gap | None:
    """Releases that are read by other columns than the contract's, on the word of their data packages."""
    own = [turn.contract for turn in material.turns(series)]
    some = sum(
        [*one.attributes()] != [*material.contract.attributes()]
        or one.sensitive != material.contract.sensitive
        for one in own
    )
    what = f"whether {some} of {len(own)} releases have the columns that their contract declared"
    return Gap(what, OWN_COLUMNS, series=series.name) if some else None


def _silent_gaps(series: AttackedSeries) -> list[Gap]:
    """Rows of other tools' tables that say nothing of anybody."""
    stated = [(release.name, release.attack.figures) for release in series.releases]
    return [
        Gap(
            f"{{}} rows of {name} whose quasi-identifiers all stand for anything, and {{}} people whom no"
            " other row covers",
            "k-anonymity and l-diversity are those of the other rows, as tools count that suppress rows. If"
            " such a row counts as like any other, the fewest rows that are alike are"
            f" {figures['smallest_match']}. Whoever knows that such a person is in the table takes one of"
            f" these rows for theirs. They have {figures['values_of_anything']} different values.",
            (int(rows), int(figures["people_of_anything"] or 0)),
            series.name,
        )
        for name, figures in stated
        if (rows := figures.get("rows_of_anything"))
    ]


def _word_gaps(series: AttackedSeries) -> list[Gap]:
    not_compared = {
        "titles, descriptions and terms in the texts": [one.words_not_compared for one in series.releases],
        "bytes between the rows in the tables": [one.bytes_not_compared for one in series.releases],
    }
    return [
        Gap(f"{what} of {some} of {len(series.releases)} releases", why, series=series.name)
        for what, each in not_compared.items()
        for why, some in Counter(filter(None, each)).items()
    ]


def _renaming_gaps(series: AttackedSeries) -> list[Gap]:
    return [
        Gap(
            (
                f"whether “{braced(str(gone))}” of one release and"
                f" “{braced('”, “'.join(map(str, became)))}” of {release.name} are one value: {{}} of {{}}"
                " people have the second in place of the first"
            ),
            (
                "values are told apart by their names. If they are one value, declare it (sensitive.renamed)"
                " and audit again."
            ),
            (people, stayed),
            series.name,
        )
        for release in series.releases
        if release.renamed is not None
        for gone, became, people, stayed in release.renamed.select(
            "gone", "became", "people", "stayed"
        ).iter_rows()
    ]


def _no_answer_gaps(series: AttackedSeries, material: Material) -> list[Gap]:
    """People of whom one value is left beside words for no answer, which count as values to the promise."""
    known, sensitive = series.knowledge, material.contract.sensitive
    if sensitive is None or sensitive.is_several or known.domain is None or known.covered is None:
        return []
    values = known.domain[VALUE].cast(pl.String)
    no_values = [word for word in no_answers(values, {}) if word not in map(str, sensitive.not_sensitive)]
    left = left_of([known.covered]).filter(~pl.col(VALUE).cast(pl.String).is_in(no_values))
    candidates = left.select(words(left)).to_numpy()
    position = np.flatnonzero(values.is_in(no_values).to_numpy())
    said = candidates & bitsets(np.zeros_like(position), position, 1, len(values))
    is_one = np.bitwise_count(candidates ^ said).sum(axis=1) == 1
    people = int((said.any(axis=1) & is_one).sum())
    what = f"{{}} people of whom one value is left, and words for no answer ({braced(', '.join(no_values))})"
    return [Gap(what, NO_ANSWER, (people,), series.name)] if people else []


WITHOUT_SHARDS = (
    "the attacks took whole tables, as anybody has them. Shard by shard, republish attacks each"
    " release before it is published, and an audit does with the private folder (--private)."
)
BY_SHARD = (
    "each shard was attacked as a series of its own, by adversaries who know who is in it, and"
    " so have fewer groups to choose from. Of the whole are manifests, texts, row order,"
    " numbering, the error of counts, and guesses by learning, of whole groups with about 100,000"
    " people; several series together were attacked with everybody."
)
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
OWN_ALGORITHM = Gap(
    "Values that another tool's table carries in the order of rows, the numbers of groups or the ends of"
    " intervals, by a rule that differs from group to group",
    "only the tool's algorithm says which rule, and it was not attacked. Of the order of rows, every order of"
    " ranks was tried that all groups of a size share.",
)
SPELT = Gap(
    "{} rows of classes whose cells are spelt in several ways",
    "cells that cover the same are one cell to the attacks. Whoever finds that the spelling goes with what"
    " intervals hide, such as the exact age, tells people of a class apart: publish one spelling.",
)
NO_ANSWER = (
    "the promise counts such words as values. Whoever knows that such a person gave an answer knows it."
)
LEFT_OUT = (
    "whoever misses such a person in a release knows that the value is missing. Nothing is"
    " promised about that, and the attacks count none of them, there or in earlier releases."
)
ONES_HELD_BACK = (
    "earlier versions could hold people back for the value that they have. Whoever misses such a person in a"
    " release knows that the value was too frequent then, or is in no signature of the person. The attacks"
    " try it of people alone who were published before."
)
FAR_APART = (
    "earlier versions promised it of numbers. No attack tries it any more: candidates may be close to one"
    " another. The version that made the releases has the attack."
)
OWN_COLUMNS = (
    "they were made under another contract than the one that is given, and are read by the"
    " columns, labels, widths and values that their data packages state. Audit them with the"
    " contract of their time to be sure."
)
MAY_BE_KNOWN = (
    "nothing is promised to them. As candidates of others, such values count as often as a group"
    " has them beside a sensitive value."
)
ONE_GROUP_EACH = Gap(
    "whether people are in the groups that the publisher put them in",
    "no private folder was given (--private). Each person in the last release is covered by one group alone,"
    " and the attacks took it for the person's group.",
)
NOT_WHERE_REPEATED = ", but where a group has several rows of a value that may be known"
NEVER_COVERED = [
    Gap(
        "Adversaries who know some people's sensitive values, how values change, who shares a value, or what"
        " another publisher released of the same people",
        "the promises assume that everybody's presence and quasi-identifiers are known, and no values. The"
        " documentation (“What is not promised”) has figures of made-up and public tables.",
    ),
    Gap(
        "Adversaries who know from elsewhere how values depend on quasi-identifiers",
        "what can be learned of that from the releases themselves is a figure that is not promised.",
    ),
    Gap(
        "Groups that can be told from release to release, and quasi-identifiers that intervals give away",
        "the promises assume that everybody's group and quasi-identifiers are known.",
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
        Gap(part.needs_hosts, "no private folder was given (--private).", series=series.name)
        for series in material.series
        for part in promises_of(material, series, len(series.releases))[-1]
        if part.needs_hosts is not None
    ]


def _assignment_gaps(series: AttackedSeries) -> list[Gap]:
    what = "values that no assignment of tuples to people allows, and exact risks"
    if series.why_no_assignments is not None:
        return [Gap(what, series.why_no_assignments, series=series.name)]
    gaps, counted = list[Gap](), () if series.whole is None else series.whole.counted
    for found in (one for one in counted if isinstance(one, RiskFigures)):
        if found.decided < found.tuples:
            gaps.append(
                Gap(
                    "exact risks of {} of {} tuples",
                    "too many people share the groups that may hold them. Values that no assignment allows"
                    " were struck off for them too; with the private folder, the groups themselves bound the"
                    " risk (signature invariance)"
                    f"{NOT_WHERE_REPEATED if found.repeated else ''}.",
                    (found.tuples - found.decided, found.tuples),
                    series.name,
                )
            )
        if found.exceeding:
            gaps.append(
                Gap(
                    "risks of {} of {} tuples, counted by rows without numbers",
                    "they are larger than promised (the largest is found for disclosure risk). The promise"
                    " numbers the rows of a value that may be known by lot, in secret, and each person keeps"
                    " a number. It takes all assignments of numbered rows as equally likely.",
                    (found.exceeding, found.tuples),
                    series.name,
                )
            )
        if found.left_out:
            why = f"{found.left_out} releases allow too many choices."
            gaps.append(Gap(what, why, series=series.name))
    return gaps


def _equivalence_gaps(series: AttackedSeries) -> list[Gap]:
    if not series.equivalences:
        what, why = "who has the same value as whom", "no group's people are all known."
        return [Gap(what, why, series=series.name)]
    unproven = sum(not found.proven for found in series.equivalences)
    if not unproven:
        return []
    return [
        Gap(
            f"equivalence on {unproven} of {len(series.equivalences)} parts",
            "the time was too short, or the series too large, to prove the smallest; the one found is"
            " given, and a bound. A part is a signature; the last one is all of them together. Give more"
            " time (--seconds).",
            series=series.name,
        )
    ]
