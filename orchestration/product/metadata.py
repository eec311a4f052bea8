"""What the UI shows of a release: counts that plot over releases, columns, where they come from, charts."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import dagster as dg

from anonymize.contract import Contract
from orchestration.principles import principle_of
from orchestration.product import anatomized, generalized
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
    "balance": "Every group holds each of its values equally often, and at least m where anybody is new.",
    "cuts": "Every cut that the release adds to a bucket's graph weighs more than 2(e - 1).",
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
    form = _form(contract)
    counterfeits = figures["counterfeits"]
    return {
        BUCKETS: {"buckets": figures["buckets"], "groups": figures["groups"]},
        RELEASE: {
            **figures,
            **widths,
            **seconds,
            "dagster/row_count": figures["tuples"],
            **_schema(form.columns(contract)),
            **_lineage(contract),
            **form.charts(series, release),
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


def _lineage(contract: Contract) -> dict[str, Any]:
    source = asset_key(contract.product, SNAPSHOT)
    return {
        "dagster/column_lineage": dg.TableColumnLineage(
            {
                column: [dg.TableColumnDep(source, name)]
                for column, name in _form(contract).origins(contract).items()
            }
        )
    }


def _form(contract: Contract):
    """What is shown of the form in which the principle publishes."""
    return generalized if "microdata" in principle_of(contract).tables else anatomized
