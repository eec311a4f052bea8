"""`republish catalogue`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, HomePath
from republish.orchestration.cli.terminal import out


def catalogue(
    contract: ContractPath,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="Write them there; else to HOME/catalogues/PRODUCT/SERIES."
        ),
    ] = None,
    home: HomePath = None,
    debug: Debug = False,
) -> None:
    """Write records of the published releases for catalogues of data: DCAT-AP, DDI-Codebook, Croissant.

    They are made of each release's manifest and data package, and of what the contract states under
    catalogue and governance. Each release writes them anew by itself; this does after a change of the words.
    """
    from republish.orchestration.catalogue.write import write_catalogues
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.series.homes import series_at
    from republish.orchestration.series.recorded import verify_published

    series = series_at(load_contract(contract), home)
    verify_published(series)
    out.print("\n".join(map(str, write_catalogues(series, folder or series.catalogues))))
