"""`republish validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, HomePath, Limit
from republish.orchestration.cli.terminal import out
from republish.orchestration.cli.work import Work


def validate(
    contract: ContractPath,
    home: HomePath = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Try the releases of all snapshots that are there, each built on the one before.",
        ),
    ] = False,
    profile: Annotated[
        bool | None,
        typer.Option(
            "--profile/--no-profile",
            help="Show what is in each column. Default: on a terminal only, because the lowest and highest"
            " values are people's.",
        ),
    ] = None,
    errors: Annotated[
        bool | None,
        typer.Option(
            "--errors/--no-errors",
            help="Show how far off counts from the next release would be. Default: on a terminal only.",
        ),
    ] = None,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Check a contract and its snapshots, and change nothing.

    Every snapshot that has arrived is checked, except those of published releases. The next release is made
    and audited as `republish release` would do it, and not written: the command says whether it would be
    released, with how many groups and counterfeits, and how many people it would hold back. With --all, so
    are the releases after it.

    On a terminal, it also shows each column of the next snapshot, and of each one that is refused: the
    lowest and the highest of numbers and dates, how many values there are, the share of the most frequent
    one, and how many are missing. Identifiers and sensitive values are only counted. None of this is kept.

    On a terminal, it shows, too, what readers would count from the next release: people with each sensitive
    value, and with each label that a hundred people and more have, the interval of the estimate, and how far
    it is from the truth.
    """
    from republish.anonymize.principles import principle_of
    from republish.orchestration.cli.examine import examine
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.series.homes import series_at

    file = load_contract(contract)
    declared = file.contract
    out.print(f"{contract}: the contract of {declared.product}/{declared.series} is well formed")
    sensitive = f" sensitive {declared.sensitive.name}," if declared.sensitive is not None else ""
    attributes = len(list(declared.attributes()))
    out.print(f"  {attributes} {declared.ROLE}s,{sensitive} {declared.principle.name}")
    for sentence in principle_of(declared).advice(declared):
        out.print(f"  advice: {sentence}")
    series = series_at(file, home)
    with Work(series.name) as work:
        profiles = out.is_terminal if profile is None else profile
        counts = out.is_terminal if errors is None else errors
        code = examine(series, work.print, profiles=profiles, every=every, errors=counts)
    if code:
        raise typer.Exit(code)
