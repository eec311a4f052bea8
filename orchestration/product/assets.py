"""The assets of a product: snapshot -> delta -> (buckets, release, counterfeits, audit) -> publication."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from anonymize.errors import RepublishError
from orchestration.expectations import Verdict
from orchestration.expectations.verdict import no_verdict
from orchestration.partitions import previous_release, release_partitions
from orchestration.principles import code_version, principle_of
from orchestration.product import metadata
from orchestration.product.names import (
    AUDIT,
    BRACKET,
    BUCKETS,
    CHAIN_CHECK,
    COUNTERFEITS,
    DELTA,
    PUBLICATION,
    RELEASE,
    SNAPSHOT,
    SNAPSHOT_CHECK,
    asset_key,
)
from orchestration.series import Series
from orchestration.steps.audit import ATTACK
from orchestration.steps.candidate import compute_candidate
from orchestration.steps.delta import compare_snapshots
from orchestration.steps.publication import Published, publish
from orchestration.steps.snapshot import take_snapshot

ONE_RUN = dg.BackfillPolicy.single_run()
"""A backfill is one run over ascending releases, each committed before the next.

Dagster puts assets into one run only where they depend on each other release by release. So the one
dependency on the release before is that of `buckets`, the recursion itself; the others that there are (the
delta compares two snapshots, manifests form a chain) lie behind it, and their steps see to them.
"""


def assets_of(series: Series) -> list[dg.AssetsDefinition]:
    """The assets of the product that a series' contract declares."""
    return [_snapshot(series), _delta(series), _bracket(series), _publication(series)]


def _spec(
    series: Series, asset: str, description: str, deps: list[dg.AssetDep], kinds: set[str]
) -> dg.AssetSpec:
    contract = series.contract
    return dg.AssetSpec(
        asset_key(contract.product, asset),
        description=f"{contract.description}\n\n{description}" if asset == RELEASE else description,
        deps=deps,
        group_name=contract.product,
        owners=list(contract.owners),
        code_version=code_version(contract) if asset in BRACKET else None,
        kinds=kinds,
        tags={"principle": contract.principle.name},
    )


def _dep(series: Series, asset: str, mapping: dg.PartitionMapping | None = None) -> dg.AssetDep:
    return dg.AssetDep(asset_key(series.contract.product, asset), partition_mapping=mapping)


def _snapshot(series: Series) -> dg.AssetsDefinition:
    spec = _spec(
        series,
        SNAPSHOT,
        "The table of people at the release's date, checked. Private.",
        [],
        {"parquet", "polars"},
    )

    @dg.multi_asset(
        name=f"{series.contract.product}_{SNAPSHOT}",
        specs=[spec],
        check_specs=[
            _check_spec(series, SNAPSHOT, SNAPSHOT_CHECK, "The snapshot is what the contract promises.")
        ],
        partitions_def=release_partitions(series.file),
        backfill_policy=ONE_RUN,
    )
    def snapshot(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
        metadata.draw_soon()
        for release in context.partition_keys:
            try:
                with _told_to_dagster(_before(context, release)):
                    taken = take_snapshot(series, release)
            except dg.Failure as failure:
                yield dg.AssetCheckResult(
                    passed=False, check_name=SNAPSHOT_CHECK, description=failure.description
                )
                raise
            context.log.info(f"{release}: a snapshot of {taken.people} people")
            _add(context, spec.key, release, metadata.of_snapshot(series, taken))
            _log_checks(context, spec.key, release, [taken.verdict])
        yield dg.MaterializeResult()
        yield _check(spec.key, taken.verdict)

    return snapshot


def _delta(series: Series) -> dg.AssetsDefinition:
    spec = _spec(
        series,
        DELTA,
        "Who entered, left, stayed or changed since the snapshot before. Private.",
        [_dep(series, SNAPSHOT)],
        {"parquet", "polars"},
    )

    @dg.multi_asset(
        name=f"{series.contract.product}_{DELTA}",
        specs=[spec],
        partitions_def=release_partitions(series.file),
        backfill_policy=ONE_RUN,
    )
    def delta(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:
        for release in context.partition_keys:
            with _told_to_dagster(_before(context, release)):
                figures = compare_snapshots(series, release)
            _add(context, spec.key, release, figures)
        yield dg.MaterializeResult()

    return delta


def _bracket(series: Series) -> dg.AssetsDefinition:
    product, promises = series.contract.product, (*principle_of(series.contract).promises, ATTACK)
    specs = [
        _spec(
            series,
            BUCKETS,
            "Which signature has how many people and counterfeits. Private; the next release keeps to it.",
            [_dep(series, SNAPSHOT), _dep(series, DELTA), _dep(series, BUCKETS, previous_release())],
            {"duckdb", "numpy"},
        ),
        _spec(
            series,
            RELEASE,
            "T*(n), the candidate to be published.",
            [_dep(series, BUCKETS)],
            {"parquet", "polars"},
        ),
        _spec(
            series,
            COUNTERFEITS,
            "R(n): how many counterfeits each group has.",
            [_dep(series, BUCKETS)],
            {"parquet", "polars"},
        ),
        _spec(
            series,
            AUDIT,
            "What was promised, against what an independent count and an attack find.",
            [_dep(series, RELEASE), _dep(series, COUNTERFEITS), _dep(series, SNAPSHOT)],
            {"greatexpectations"},
        ),
    ]
    release_key = asset_key(product, RELEASE)

    @dg.multi_asset(
        name=f"{product}_candidate",
        specs=specs,
        check_specs=[
            _check_spec(series, RELEASE, promise, metadata.PROMISES[promise]) for promise in promises
        ],
        partitions_def=release_partitions(series.file),
        backfill_policy=ONE_RUN,
    )
    def candidate(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
        for release in context.partition_keys:
            try:
                with _told_to_dagster(_before(context, release)):
                    committed = compute_candidate(series, release)
            except dg.Failure as failure:
                for verdict in getattr(failure.__cause__, "verdicts", []):
                    yield _check(release_key, verdict)
                raise
            context.log.info(
                f"{release}: {'audited' if committed.is_new else 'found as audited before'},"
                f" {committed.figures.get('counterfeits', 0)} counterfeits"
            )
            for asset, entries in metadata.of_candidate(series, release, committed).items():
                _add(context, asset_key(product, asset), release, entries)
            _log_checks(context, release_key, release, committed.verdicts)
        for asset in BRACKET:
            yield dg.MaterializeResult(asset_key=asset_key(product, asset))
        for promise in promises:
            yield _check(release_key, _verdict_on(promise, committed.verdicts))

    return candidate


def _publication(series: Series) -> dg.AssetsDefinition:
    spec = _spec(
        series,
        PUBLICATION,
        "The published folder: a fact, once and for all.",
        [
            _dep(series, RELEASE),
            _dep(series, COUNTERFEITS),
            _dep(series, AUDIT),
        ],
        {"parquet"},
    )

    @dg.multi_asset(
        name=f"{series.contract.product}_{PUBLICATION}",
        specs=[spec],
        check_specs=[
            _check_spec(series, PUBLICATION, CHAIN_CHECK, "Every published file is what its manifest says.")
        ],
        partitions_def=release_partitions(series.file),
        backfill_policy=ONE_RUN,
    )
    def publication(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
        for release in context.partition_keys:
            with _told_to_dagster():
                published = publish(series, release)
            context.log.info(f"{release}: {'published' if published.is_new else 'is published as it was'}")
            _add(context, spec.key, release, metadata.of_publication(published))
            verdict = _chain_verdict(published)
            _log_checks(context, spec.key, release, [verdict])
        yield dg.MaterializeResult()
        yield _check(spec.key, verdict)

    return publication


@contextmanager
def _told_to_dagster(before: list[str] | None = None) -> Iterator[None]:
    """A refusal of ours ends the step with its own words, and is not tried again.

    In a backfill, a step is done for all releases before the next step begins. One release that is refused
    keeps those `before` it from being published in this run; none of their work is lost.
    """
    try:
        yield
    except RepublishError as error:
        way_out = f"\nTo publish the releases before it, backfill up to {before[-1]}" if before else ""
        raise dg.Failure(description=f"{error}{way_out}", allow_retries=False) from error
    except Exception as error:  # noqa: BLE001 - whatever a library raises
        raise _unexpected(error) from None


def _before(context: dg.AssetExecutionContext, release: str) -> list[str]:
    """The releases of a run that come before one."""
    return [earlier for earlier in context.partition_keys if earlier < release]


def _unexpected(error: Exception) -> dg.Failure:
    """A library's error without its words: they may quote a person's value, and Dagster keeps them."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    failure = dg.Failure(
        description=f"unexpected {type(error).__name__} in {at.filename}, line {at.lineno}; republish release"
        " --debug shows more of it, and keeps nothing",
        allow_retries=False,
    )
    failure.unexpected = error
    return failure


def _add(context: dg.AssetExecutionContext, key: dg.AssetKey, release: str, entries: dict[str, Any]) -> None:
    context.add_asset_metadata(entries, asset_key=key, partition_key=release)


def _check_spec(series: Series, asset: str, name: str, description: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name,
        asset=asset_key(series.contract.product, asset),
        description=description,
        partitions_def=release_partitions(series.file),
    )


def _log_checks(
    context: dg.AssetExecutionContext, key: dg.AssetKey, release: str, verdicts: list[Verdict]
) -> None:
    """Show what checks found of each release of a range: a result alone would show it of none."""
    if len(context.partition_keys) == 1:
        return
    for verdict in verdicts:
        context.log_event(
            dg.AssetCheckEvaluation(
                asset_key=key,
                check_name=verdict.promise,
                passed=verdict.passed,
                metadata=verdict.figures,
                description="; ".join(verdict.broken) or None,
                partition=release,
            )
        )


def _chain_verdict(published: Published) -> Verdict:
    figures = {"files": len(published.manifest["files"]), "releases_before": published.manifest["n"] - 1}
    return Verdict(promise=CHAIN_CHECK, passed=True, figures=figures)


def _verdict_on(promise: str, verdicts: list[Verdict]) -> Verdict:
    """What was found on a promise; a release of earlier software may not have been checked for it."""
    found = [verdict for verdict in verdicts if verdict.promise == promise]
    return found[0] if found else no_verdict(promise, "Not checked when the release was published.")


def _check(key: dg.AssetKey, verdict: Verdict) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=verdict.passed,
        asset_key=key,
        check_name=verdict.promise,
        metadata=verdict.figures,
        description="; ".join(verdict.broken) or None,
    )
