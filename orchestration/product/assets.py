"""The assets of a product: snapshot -> delta -> (memory, release, counterfeits, audit) -> publication."""

from collections.abc import Collection, Mapping

import dagster as dg

from anonymize.contract import Product
from anonymize.principles import principle_of
from orchestration.expectations import Verdict
from orchestration.product import metadata
from orchestration.product.names import (
    AUDIT,
    CHAIN_CHECK,
    COUNTERFEITS,
    DELTA,
    PUBLICATION,
    RELEASE,
    SNAPSHOT,
    SNAPSHOT_CHECK,
    asset_key,
    upstream_keys,
)
from orchestration.product.step import CheckOn, Done, Step, build
from orchestration.series.partitions import previous_release
from orchestration.series.series import Series
from orchestration.snapshots.previous import published_here
from orchestration.steps.audit import ATTACK
from orchestration.steps.candidate import compute_candidate
from orchestration.steps.delta import EXPECTED, compare_snapshots
from orchestration.steps.publication import publish
from orchestration.steps.snapshot import take_snapshot

ATTACKED = {
    "groups": (
        "An adversary who knows every person's quasi-identifiers, dates of presence and group learns no more"
        " than was promised."
    ),
    "join": "An adversary who joins the view with every earlier release learns no more than was promised.",
}
"""What a release withstands, by the attack that its format names."""


def assets_of(series: Series, apart: Collection[str] = ()) -> list[dg.AssetsDefinition]:
    """The assets of the product that a series' contract declares; they don't depend on products `apart`."""
    contract = series.contract
    steps = (
        _snapshot(contract),
        _delta(contract),
        _candidate(contract, _others(series, apart)),
        _publication(contract),
    )
    return [build(step, series.file) for step in steps]


def _others(series: Series, apart: Collection[str]) -> list[dg.AssetDep]:
    """Publications of other products that releases are joined with, if they are in the same home."""
    return [
        dg.AssetDep(
            asset_key(product, PUBLICATION),
            partition_mapping=dg.SpecificPartitionsPartitionMapping(sorted(set(releases))),
        )
        for product, releases in published_here(series.file, series.home).items()
        if product not in apart
    ]


def _states_counterfeits(contract: Product) -> bool:
    """Whether releases have a table R(n)."""
    return COUNTERFEITS in principle_of(contract).format(contract).tables(contract)


def _spec(
    contract: Product,
    asset: str,
    description: str,
    deps: list[dg.AssetDep],
    kinds: set[str],
    code_version: str | None = None,
) -> dg.AssetSpec:
    return dg.AssetSpec(
        asset_key(contract.product, asset),
        description=description,
        deps=deps,
        group_name=contract.product,
        owners=list(contract.owners),
        code_version=code_version,
        kinds=kinds,
        tags={"principle": contract.principle.name},
    )


def _dep(contract: Product, asset: str, mapping: dg.PartitionMapping | None = None) -> dg.AssetDep:
    return dg.AssetDep(asset_key(contract.product, asset), partition_mapping=mapping)


def _snapshot(contract: Product) -> Step:
    def work(series: Series, release: str) -> Done:
        taken = take_snapshot(series, release)
        return Done(
            says=f"a snapshot of {taken.people} people",
            metadata={SNAPSHOT: metadata.of_snapshot(series, taken)},
            verdicts=(taken.verdict,),
        )

    description = "The table of people at the release's date, checked. Private."
    deps = [dg.AssetDep(key) for key in upstream_keys(contract)]
    return Step(
        name=SNAPSHOT,
        assets=(_spec(contract, SNAPSHOT, description, deps, {"parquet", "polars"}),),
        checks=(CheckOn(SNAPSHOT, SNAPSHOT_CHECK, "The snapshot is what the contract promises."),),
        work=work,
        before=metadata.draw_soon,
    )


def _delta(contract: Product) -> Step:
    def work(series: Series, release: str) -> Done:
        compared = compare_snapshots(series, release)
        if compared is None:
            return Done(says="is not kept any more", metadata={}, is_kept=False)
        return Done(
            says="compared with the snapshot before",
            metadata={DELTA: compared.figures},
            verdicts=(compared.verdict,),
        )

    description = "Who entered, left, stayed or changed since the snapshot before. Private."
    deps = [_dep(contract, SNAPSHOT)]
    return Step(
        name=DELTA,
        assets=(_spec(contract, DELTA, description, deps, {"parquet", "polars"}),),
        checks=(CheckOn(DELTA, EXPECTED, "The snapshot is ordinary, or what is odd is accepted by name."),),
        work=work,
    )


def _candidate(contract: Product, others: list[dg.AssetDep]) -> Step:
    """Memory, candidate and audit in one step: the recursion over releases stays inside."""
    principle = principle_of(contract)

    def work(series: Series, release: str) -> Done:
        committed = compute_candidate(series, release)
        found = "audited" if committed.is_new else "found as audited before"
        return Done(
            says=f"{found}, {committed.figures.get('groups', 0)} groups",
            metadata=metadata.of_candidate(series, release, committed),
            verdicts=committed.verdicts,
            is_kept=bool(committed.figures),
        )

    version = f"{principle.version}-{contract.privacy_digest()[:12]}"
    made_from = [_dep(contract, SNAPSHOT), _dep(contract, DELTA), *others]
    assets = []
    if memory := principle.memory:
        itself = _dep(contract, memory.name, previous_release())
        kinds = {"duckdb", "numpy"}
        assets.append(_spec(contract, memory.name, memory.description, [*made_from, itself], kinds, version))
        made_from = [_dep(contract, memory.name)]
    candidate = "\n\n".join(filter(None, (contract.description, "T*(n), the candidate to be published.")))
    stated = "R(n): how many counterfeits each group has."
    audited = "What was promised, against what an independent count and an attack find."
    assets.append(_spec(contract, RELEASE, candidate, made_from, {"parquet", "polars"}, version))
    judged = [_dep(contract, RELEASE), _dep(contract, SNAPSHOT)]
    if _states_counterfeits(contract):
        assets.append(_spec(contract, COUNTERFEITS, stated, made_from, {"parquet", "polars"}, version))
        judged.append(_dep(contract, COUNTERFEITS))
    assets.append(_spec(contract, AUDIT, audited, judged, {"greatexpectations"}, version))
    attacked = ATTACKED[principle.format(contract).attack]
    return Step(
        name="candidate",
        assets=tuple(assets),
        checks=(
            *(CheckOn(RELEASE, check.name, check.promises) for check in principle.checks),
            CheckOn(RELEASE, ATTACK, attacked),
            CheckOn(RELEASE, EXPECTED, "The release is ordinary, or what is odd is accepted by name."),
        ),
        work=work,
    )


def _publication(contract: Product) -> Step:
    def work(series: Series, release: str) -> Done:
        publication = publish(series, release)
        figures = {
            "files": len(publication.manifest["files"]),
            "releases_before": publication.manifest["n"] - 1,
        }
        return Done(
            says="published" if publication.is_new else "is published as it was",
            metadata={PUBLICATION: metadata.of_publication(series, release, publication)},
            verdicts=(Verdict(promise=CHAIN_CHECK, passed=True, figures=figures, found=_chain(figures)),),
        )

    stated = [COUNTERFEITS] if _states_counterfeits(contract) else []
    deps = [_dep(contract, asset) for asset in (RELEASE, *stated, AUDIT)]
    return Step(
        name=PUBLICATION,
        assets=(
            _spec(
                contract, PUBLICATION, "The published folder: a fact, once and for all.", deps, {"parquet"}
            ),
        ),
        checks=(CheckOn(PUBLICATION, CHAIN_CHECK, "Every published file is what its manifest says."),),
        work=work,
    )


def _chain(figures: Mapping[str, int]) -> str:
    """What was found of a published folder, in words."""
    return (
        f"{figures['files']} files have the SHA-256 that the manifest states, and the manifest follows"
        f" {figures['releases_before']} earlier ones."
    )
