"""What the UI shows of a release: counts that plot over releases, columns and where they come from, a chart."""

from __future__ import annotations

import base64
import importlib
import io
import threading
from typing import Any

import dagster as dg
import polars as pl

from anonymize.codes import code_domain, encode
from anonymize.contract import Contract
from orchestration.product.names import AUDIT, BUCKETS, COUNTERFEITS, RELEASE, SNAPSHOT, asset_key
from orchestration.series import Series
from orchestration.steps.audit import ATTACK
from orchestration.steps.candidate import Committed
from orchestration.steps.publication import Published
from orchestration.steps.snapshot import Snapshot

PROMISES = {
    "m_uniqueness": "Every group holds each of its values once, and at least m where anybody is new.",
    "signature_invariance": "Nobody's signature is in part that of an earlier release.",
    "coverage": "Every person's group covers their quasi-identifiers and has their value.",
    "minimum_widths": "No interval is narrower than the contract allows.",
    "counterfeits": "R(n) is exact: a group's tuples are its people and its stated counterfeits.",
    ATTACK: "Who knows everybody's quasi-identifiers, stays and groups learns no more than was promised.",
}


def draw_soon() -> None:
    """Begin to import what draws charts: it takes a while, and the snapshot waits for its verdict anyway."""
    threading.Thread(target=importlib.import_module, args=("matplotlib.figure",)).start()


def of_snapshot(series: Series, snapshot: Snapshot) -> dict[str, Any]:
    """People, and the columns that are read."""
    contract = series.contract
    columns = [
        dg.TableColumn(contract.identifier, description="identifier; never published"),
        *(
            dg.TableColumn(qi.name, str(qi.dtype), description=f"quasi-identifier, {qi.kind}")
            for qi in contract.quasi_identifiers
        ),
        dg.TableColumn(contract.sensitive.name, description=f"sensitive, {contract.sensitive.semantics}"),
    ]
    return {"people": snapshot.people, "dagster/row_count": snapshot.people, **_schema(columns)}


def of_candidate(series: Series, release: str, committed: Committed) -> dict[str, dict[str, Any]]:
    """The entries of each asset of the bracket, by its name."""
    figures, contract = dict(committed.figures), series.contract
    if not figures:
        return {}
    widths = {f"mean width of {qi}": width for qi, width in committed.widths.items()}
    seconds = {f"seconds: {part}": spent for part, spent in committed.seconds.items()}
    microdata = series.private(release) / "candidate-microdata.parquet"
    counterfeits = figures["counterfeits"]
    return {
        BUCKETS: {"buckets": figures["buckets"], "groups": figures["groups"]},
        RELEASE: {
            **figures,
            **widths,
            **seconds,
            "dagster/row_count": figures["tuples"],
            **_schema(_published_columns(contract)),
            **_lineage(contract),
            **({"interval widths": _width_chart(microdata, contract)} if microdata.exists() else {}),
        },
        COUNTERFEITS: {
            "counterfeits": counterfeits,
            "share of tuples": counterfeits / max(1, figures["tuples"]),
        },
        AUDIT: {
            **{name.replace("_", " "): figure for name, figure in committed.attack.items()},
            "checks": len(committed.verdicts),
            "failed checks": sum(not verdict.passed for verdict in committed.verdicts),
        },
    }


def of_publication(published: Published) -> dict[str, Any]:
    """The folder, and what the chain of manifests is checked by."""
    return {
        "folder": dg.MetadataValue.path(published.folder),
        "manifest sha256": published.manifest_sha256,
        "tuples": published.manifest["tuples"],
        "counterfeits": published.manifest["counterfeits"],
    }


def _schema(columns: list[dg.TableColumn]) -> dict[str, Any]:
    return {"dagster/column_schema": dg.TableSchema(columns=columns)}


def _published_columns(contract: Contract) -> list[dg.TableColumn]:
    ends = [
        dg.TableColumn(
            f"{qi.name}_{end}", str(qi.dtype), description=f"{which} value of {qi.name} in the group"
        )
        for qi in contract.quasi_identifiers
        for end, which in (("low", "lowest"), ("high", "highest"))
    ]
    sensitive = dg.TableColumn(
        contract.sensitive.name, description="of somebody in the group, or a counterfeit"
    )
    return [dg.TableColumn("group_id", "Int64", description="numbered by content"), *ends, sensitive]


def _lineage(contract: Contract) -> dict[str, Any]:
    source = asset_key(contract.product, SNAPSHOT)
    origin = {f"{qi.name}_{end}": qi.name for qi in contract.quasi_identifiers for end in ("low", "high")}
    origin[contract.sensitive.name] = contract.sensitive.name
    return {
        "dagster/column_lineage": dg.TableColumnLineage(
            {column: [dg.TableColumnDep(source, name)] for column, name in origin.items()}
        )
    }


def _width_chart(microdata, contract: Contract) -> dg.MarkdownMetadataValue:
    """How wide the published intervals are: for each attribute, groups by the share of the domain covered."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only where a chart is drawn

    groups = pl.scan_parquet(microdata).unique("group_id").collect()
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = figure.subplots()
    for qi in contract.quasi_identifiers:
        shares = _shares(groups, qi)
        axes.plot(
            shares.sort(), pl.int_range(1, len(shares) + 1, eager=True) / max(1, len(shares)), label=qi.name
        )
    axes.set(
        xlabel="share of the domain an interval covers", ylabel="share of groups", xlim=(0, 1), ylim=(0, 1)
    )
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    return dg.MetadataValue.md(
        f"![interval widths](data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()})"
    )


def _shares(groups: pl.DataFrame, qi) -> pl.Series:
    low, high = (encode(pl.col(f"{qi.name}_{end}"), qi) for end in ("low", "high"))
    lowest, highest = code_domain(qi)
    extent = highest - lowest + int(qi.discrete)
    return groups.select(((high - low + int(qi.discrete)) / max(extent, 1e-300)).alias("share")).to_series()
