"""Delta and Iceberg tables whose versions were written at chosen moments."""

import datetime as dt
import json
from pathlib import Path


def milliseconds(moment):
    """Milliseconds since 1970 of a moment, UTC if it says no zone: `2024-01-01 00:00`."""
    return int(dt.datetime.fromisoformat(f"{moment}+00:00").timestamp() * 1000)


def write_delta(folder, versions):
    """A Delta table that was overwritten with each of these Arrow tables, by moment."""
    from deltalake import write_deltalake

    for version, (moment, people) in enumerate(versions.items()):
        write_deltalake(str(folder), people, mode="overwrite", schema_mode="overwrite" if version else None)
        date_delta(folder, version, moment)


def date_delta(folder, version, moment):
    """Have a version of a Delta table say that it was written at another moment."""
    log = Path(folder, "_delta_log", f"{version:020}.json")
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "commitInfo" in action:
            action["commitInfo"]["timestamp"] = milliseconds(moment)
    log.write_text("".join(f"{json.dumps(action)}\n" for action in actions))


def write_iceberg(folder, versions, warehouse=None, **properties):
    """An Iceberg table that was overwritten with each of these Arrow tables, by moment, with its catalog.

    The catalog is in the folder, and the table as well, unless an address for it is given.
    """
    from pyiceberg.catalog.sql import SqlCatalog

    Path(folder).mkdir(parents=True)
    uri, warehouse = f"sqlite:///{folder}/catalog.db", warehouse or Path(folder).as_uri()
    catalog = SqlCatalog("made", uri=uri, warehouse=warehouse, **properties)
    catalog.create_namespace("clinic")
    table = None
    for people in versions.values():
        if table is None:
            table = catalog.create_table("clinic.people", people.schema, location=warehouse)
            table.append(people)
        else:
            table.overwrite(people)
    file = table.io.new_input(table.metadata_location)
    metadata = json.loads(file.open().read())
    moments = [milliseconds(moment) for moment in versions]
    # Each overwriting is two snapshots: one that deletes, and one that appends.
    at = {s["snapshot-id"]: moments[(n + 1) // 2] for n, s in enumerate(metadata["snapshots"])}
    for entry in metadata["snapshots"] + metadata["snapshot-log"]:
        entry["timestamp-ms"] = at[entry["snapshot-id"]]
    with table.io.new_output(table.metadata_location).create(overwrite=True) as changed:
        changed.write(json.dumps(metadata).encode())
    return uri
