"""The assets of a product: snapshot -> delta -> (memory, release, counterfeits, audit) -> publication."""

from collections.abc import Collection

import dagster as dg

from republish.anonymize.people.rows import counted_in
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.registry import checks_of
from republish.orchestration.chain.audit import ATTACK
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import EXPECTED, compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.dagster import metadata
from republish.orchestration.dagster.figures import named
from republish.orchestration.dagster.in_effect import in_effect, not_applied
from republish.orchestration.dagster.lineage import lineage_of
from republish.orchestration.dagster.names import (
    AUDIT,
    CHAIN_CHECK,
    COUNTERFEITS,
    DELTA,
    PUBLICATION,
    RELEASE,
    SERIES_TAG,
    SNAPSHOT,
    SNAPSHOT_CHECK,
    asset_key,
    group_name,
    tag_value,
    upstream_keys,
)
from republish.orchestration.dagster.step import CheckOn, Done, Step, build
from republish.orchestration.expectations import Verdict
from republish.orchestration.rights.retention import forget_absent
from republish.orchestration.series.place import Place
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.previous import published_here

CANDIDATE = "candidate"
"""The step that makes memory, release, counterfeits and audit."""
ATTACKED = {
    "groups": (
        "An adversary who knows every person's quasi-identifiers, dates of presence and group learns no more"
        " than was promised."
    ),
    "join": "An adversary who joins the view with earlier releases learns no more than was promised.",
}
"""The promise of the check `attack`, by the attack that the release's format names."""


def assets_of(series: Series, apart: Collection[str] = ()) -> list[dg.AssetsDefinition]:
    """The assets of the product that a series' contract declares; they don't depend on products `apart`."""
    steps = (
        _snapshot(series),
        _delta(series),
        _candidate(series, [*_before(series), *_others(series, apart)]),
        _publication(series),
    )
    return [build(step, series, steps[at:]) for at, step in enumerate(steps, start=1)]


def _before(series: Series) -> list[dg.AssetDep]:
    """The last publication of the series that this one goes on from, if it goes on from one."""
    if series.contract.supersedes is None:
        return []
    former = series.other(series.contract.supersedes)
    return [_publications(former, former.releases[-1:])] if former.releases else []


def _others(series: Series, apart: Collection[str]) -> list[dg.AssetDep]:
    """Publications of other products that releases are joined with, if they are in the same home."""
    return [
        _publications(Place(series.home, product, other), releases)
        for (product, other), releases in published_here(series.file, series.home).items()
        if product not in apart
    ]


def _publications(place: Place, releases: Collection[str]) -> dg.AssetDep:
    """The dependency on some releases of another series."""
    return dg.AssetDep(
        asset_key(place, PUBLICATION),
        partition_mapping=dg.SpecificPartitionsPartitionMapping(sorted(set(releases))),
    )


def _spec(
    series: Series,
    asset: str,
    description: str,
    kinds: set[str],
    further: Collection[dg.AssetDep] = (),
    code_version: str | None = None,
) -> dg.AssetSpec:
    """One asset: made from others of the series, and from `further` ones."""
    contract, key = series.contract, asset_key(series, asset)
    return dg.AssetSpec(
        key,
        description=description,
        deps=[*(asset_key(series, above) for above in lineage_of(contract)[asset]), *further],
        group_name=group_name(key),
        owners=list(contract.owners),
        code_version=code_version,
        kinds=kinds,
        tags={"principle": contract.principle.name, SERIES_TAG: tag_value(contract.series)},
    )


def _snapshot(described: Series) -> Step:
    def work(series: Series, release: str) -> Done:
        taken = take_snapshot(series, release)
        return Done(
            says=f"a snapshot of {taken.people} {counted_in(series.contract)}",
            metadata={SNAPSHOT: metadata.of_snapshot(series, taken)},
            verdicts=(taken.verdict,),
        )

    description = "The table of people at the release's date, checked. Private."
    upstream = [dg.AssetDep(key) for key in upstream_keys(described.contract)]
    return Step(
        name=SNAPSHOT,
        assets=(_spec(described, SNAPSHOT, description, {"parquet", "polars"}, upstream),),
        checks=(CheckOn(SNAPSHOT, SNAPSHOT_CHECK, "The snapshot is what the contract promises."),),
        work=work,
    )


def _delta(described: Series) -> Step:
    def work(series: Series, release: str) -> Done:
        compared = compare_snapshots(series, release)
        if compared is None:
            return Done(says="is not kept any more", metadata={}, is_kept=False)
        return Done(
            says="compared with the snapshot before",
            metadata={DELTA: named(compared.figures.as_json(), series.contract)},
            verdicts=(compared.verdict,),
        )

    description = "Who entered, left, stayed or changed since the snapshot before. Private."
    return Step(
        name=DELTA,
        assets=(_spec(described, DELTA, description, {"parquet", "polars"}),),
        checks=(CheckOn(DELTA, EXPECTED, "The snapshot is ordinary, or what is odd is accepted by name."),),
        work=work,
    )


def _candidate(described: Series, others: list[dg.AssetDep]) -> Step:
    """Memory, candidate and audit in one step: the recursion over releases stays inside."""
    contract = described.contract
    principle = principle_of(contract)

    def work(series: Series, release: str) -> Done:
        committed = compute_candidate(series, release)
        found = "audited" if committed.is_new else "found as audited before"
        groups = 0 if committed.counts is None else committed.counts.groups
        return Done(
            says=f"{found}, {groups} groups",
            metadata=metadata.of_candidate(series, release, committed),
            verdicts=committed.verdicts,
            is_kept=committed.counts is not None,
            already=not_applied(series, committed),
        )

    version = f"{principle.version}-{contract.privacy_digest()[:12]}"
    tables = {"parquet", "polars"}
    candidate = "\n\n".join(
        filter(
            None,
            (
                contract.description,
                "The table of a release. It is published once it has passed its audit.",
                in_effect(described),
            ),
        )
    )
    stated = "R(n): how many counterfeits each group has."
    audited = "What was promised, against what an attack counts."
    assets = []
    if memory := principle.memory:
        kinds = {"duckdb", "numpy"}
        assets.append(_spec(described, memory.name, memory.description, kinds, others, version))
    made_from = [] if memory else others
    assets.append(_spec(described, RELEASE, candidate, tables, made_from, version))
    if COUNTERFEITS in lineage_of(contract):
        assets.append(_spec(described, COUNTERFEITS, stated, tables, made_from, version))
    assets.append(_spec(described, AUDIT, audited, {"greatexpectations"}, code_version=version))
    attacked = ATTACKED[principle.format(contract).attack]
    return Step(
        name=CANDIDATE,
        assets=tuple(assets),
        checks=(
            *(
                CheckOn(RELEASE, check.name, check.promises)
                for check in checks_of(
                    principle.promise(contract.principle), principle.format(contract), contract
                )
            ),
            CheckOn(RELEASE, ATTACK, attacked),
            CheckOn(RELEASE, EXPECTED, "The release is ordinary, or what is odd is accepted by name."),
        ),
        work=work,
    )


def _publication(described: Series) -> Step:
    def work(series: Series, release: str) -> Done:
        publication = publish(series, release)
        if series.contract.retention is not None:
            forget_absent(series, releasing=True)
        figures = {
            "files": len(publication.manifest["files"]),
            "releases_before": publication.manifest["n"] - 1,
        }
        found = (
            f"{figures['files']} files have the SHA-256 that the manifest states, and the manifest follows"
            f" {figures['releases_before']} earlier ones."
        )
        return Done(
            says="published" if publication.is_new else "is published as it was",
            metadata={PUBLICATION: metadata.of_publication(series, release, publication)},
            verdicts=(Verdict(promise=CHAIN_CHECK, passed=True, figures=figures, found=found),),
        )

    description = "The published folder: a fact, once and for all."
    return Step(
        name=PUBLICATION,
        assets=(_spec(described, PUBLICATION, description, {"parquet"}),),
        checks=(CheckOn(PUBLICATION, CHAIN_CHECK, "Every published file is what its manifest says."),),
        work=work,
    )
