"""`republish audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.audit import SECONDS
from republish.orchestration.cli.options import Debug, HomePath, Limit, SignKey


def audit(
    published: Annotated[
        list[Path],
        typer.Argument(
            metavar="PUBLISHED…",
            help="Release or series folders, or another tool's .csv and .parquet files. Several series of the"
            " same people are attacked together. Or your contract alone, for its releases in your home.",
        ),
    ],
    contract: Annotated[
        Path | None,
        typer.Option(
            metavar="CONTRACT", help="The YAML file that says what the columns are and what is promised."
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The true tables: <release>.parquet or <release>.csv for every release. Default: what the"
            " home keeps in which the releases lie, with everybody's group, or else the contract's source.",
        ),
    ] = None,
    private: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The publisher's private folder. With it, groups are checked person by person.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the report there: audit.html for readers, and audit.json with all figures for you.",
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="YAML", help="Which column is what, for releases that republish didn't make."),
    ] = None,
    auditor: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who audits, for the report and the signature.")
    ] = None,
    purpose: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the audit is for, for the report.")
    ] = None,
    sign: SignKey = None,
    seconds: Annotated[
        float,
        typer.Option(help="Seconds for each series to search for people who are known to share a value."),
    ] = SECONDS,
    home: HomePath = None,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Attack published releases, and report what holds.

    The adversary has every release, and knows every person's quasi-identifiers and dates of presence.

    Exit codes: 0 every promise holds, 3 a promise is broken or the contract asks for more, 2 the input is
    wrong.
    """
    from republish.orchestration.audit.command import audit as audited
    from republish.orchestration.storage.in_stores import fetched

    if contract is None:
        contract, published = published[0], _own_releases(published, home)
    with fetched(published) as folders:
        code = audited(
            folders,
            truth,
            contract,
            private=private,
            out=out,
            mapping=mapping,
            seconds=seconds,
            auditor=auditor,
            purpose=purpose,
            sign=sign,
        )
    raise typer.Exit(code)


def _own_releases(named: list[Path], home: Path | None = None) -> list[Path]:
    """The folders of what a publisher has released of a contract, and of the series before it.

    Raises PublishedFolderError if what is named is no contract, or nothing was released of it.
    """
    from republish.anonymize.errors import PublishedFolderError
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.series.homes import default_home
    from republish.orchestration.series.other_series import chain_of
    from republish.orchestration.series.series import Series
    from republish.orchestration.storage.home import Home
    from republish.orchestration.storage.leftovers import settle

    if len(named) > 1 or named[0].suffix not in (".yaml", ".yml"):
        raise PublishedFolderError(
            f"{named[0]}: what was promised of it? Add --contract CONTRACT, the YAML file that says what the"
            " columns are and what is promised; or, for your own releases, name the contract alone:"
            " republish audit CONTRACT"
        )
    file = load_contract(named[0], of_earlier_versions=True)
    series = Series(file, Home.named(home, default_home(file)))
    if not series.published_folder.is_dir():
        raise PublishedFolderError(f"{series.published_folder}: nothing is released of {series.name} yet")
    declared = file.contract
    settle(series.home, declared.product)
    return [series.home.published(declared.product, name) for name in chain_of(series)]
