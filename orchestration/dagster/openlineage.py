"""Events of a release for OpenLineage, where its configuration is. None has a person's value."""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import DATA_PACKAGE, MANIFEST
from republish.orchestration.storage.parts import table_of
from republish.orchestration.storage.store import read_json

CONFIG = "OPENLINEAGE_CONFIG"
"""The variable by which OpenLineage's client finds its file, else `openlineage.yml` in the working folder."""
NAMESPACE = "republish"


@contextmanager
def told_to_openlineage(series: Series, release: str, run: str) -> Iterator[None]:
    """Tell OpenLineage that a release starts, and then that it is complete or failed.

    Nothing is imported without a configuration. A release never fails for its events: what goes wrong with
    them is said on standard error.
    """
    if not (os.environ.get(CONFIG) or Path("openlineage.yml").exists()):
        yield
        return
    _tell("START", series, release, run)
    try:
        yield
    except BaseException:
        _tell("FAIL", series, release, run)
        raise
    _tell("COMPLETE", series, release, run)


def _tell(state: str, series: Series, release: str, run: str) -> None:
    try:
        _emit(state, series, release, run)
    except Exception as error:  # noqa: BLE001 - of a transport, anything
        print(f"OpenLineage: no {state} event: {type(error).__name__}", file=sys.stderr)  # noqa: T201


def _emit(state: str, series: Series, release: str, run: str) -> None:
    from openlineage.client import OpenLineageClient, event_v2  # noqa: PLC0415 - an extra

    event = event_v2.RunEvent(
        eventType=event_v2.RunState[state],
        eventTime=dt.datetime.now(dt.UTC).isoformat(),
        run=event_v2.Run(runId=run),
        job=event_v2.Job(namespace=NAMESPACE, name=series.name),
        inputs=[_input(series, release)],
        outputs=_outputs(series, release) if state == "COMPLETE" else [],
        producer="urn:republish",
    )
    client = OpenLineageClient()
    client.emit(event)
    client.close()


def _input(series: Series, release: str) -> Any:
    """The snapshot, with the declared columns. Its place may have a password in it, and is left out."""
    from openlineage.client import event_v2  # noqa: PLC0415 - an extra

    contract = series.contract
    declared = (*contract.attributes(), *contract.sensitive_columns())
    columns = [(one.name, str(one.kind)) for _, one in declared]
    return event_v2.InputDataset(
        NAMESPACE, f"{series.name}/{release}/snapshot", facets={"schema": _schema(columns)}
    )


def _outputs(series: Series, release: str) -> list[Any]:
    """The published tables: columns of the data package, rows of the manifest."""
    from openlineage.client import event_v2  # noqa: PLC0415 - an extra
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics  # noqa: PLC0415 - an extra

    folder = series.published(release)
    package, stated = read_json(folder / DATA_PACKAGE) or {}, read_json(folder / MANIFEST) or {}
    outputs = []
    for table in package["resources"]:
        rows = [one["rows"] for name, one in stated["files"].items() if table_of(name) == table["name"]]
        if "schema" in table and rows:
            columns = [(one["name"], one["type"]) for one in table["schema"]["fields"]]
            counted = statistics.OutputStatisticsOutputDatasetFacet(rowCount=sum(rows))
            outputs.append(
                event_v2.OutputDataset(
                    NAMESPACE,
                    f"{series.name}/{release}/{table['name']}",
                    facets={"schema": _schema(columns)},
                    outputFacets={"outputStatistics": counted},
                )
            )
    return outputs


def _schema(columns: list[tuple[str, str]]) -> Any:
    from openlineage.client.facet_v2 import schema_dataset  # noqa: PLC0415 - an extra

    fields = [schema_dataset.SchemaDatasetFacetFields(name=name, type=kind) for name, kind in columns]
    return schema_dataset.SchemaDatasetFacet(fields=fields)
