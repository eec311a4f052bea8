"""`republish record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, HomePath, SignKey
from republish.orchestration.cli.terminal import out


def record(
    contract: ContractPath,
    folder: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Write record.html and record.json there.")
    ],
    sign: SignKey = None,
    home: HomePath = None,
    debug: Debug = False,
) -> None:
    """Write the record of processing of a series: what is published of people, why, and by whom.

    Purpose, legal basis, recipients and so on are those that the contract states under governance. With
    --sign it is signed as an audit is, and republish verify --report checks it.
    """
    import datetime as dt

    from republish.orchestration.audit.signature import load_private_key, sign_report
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.rights.pages import write_record
    from republish.orchestration.rights.processing import record as recorded
    from republish.orchestration.series.homes import series_at
    from republish.orchestration.storage.manifest import MANIFEST

    file = load_contract(contract)
    series = series_at(file, home)
    key = None if sign is None else load_private_key(sign)
    found = recorded(series, dt.datetime.now(dt.UTC).date().isoformat())
    written = write_record(folder, found)
    if key is not None:
        releases = [
            {
                "series": series.name,
                "release": one["release"],
                "files": {MANIFEST: one["manifest_sha256"]},
            }
            for one in found["releases"]
        ]
        described = {
            "software": found["software"],
            "date": found["date"],
            "auditor": found["governance"].get("controller"),
            "verdict": f"a record of processing, with {len(releases)} releases",
        }
        written += sign_report(folder, key, written, releases, described)
    out.print("\n".join(map(str, written)))
