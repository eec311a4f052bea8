"""`republish compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, Form, HomePath, Limit


def compare(
    contract: ContractPath,
    values: Annotated[
        str | None,
        typer.Option(
            "--values",
            metavar="2,4,…",
            help="Of m, l or e. Default: 2, 3, 4, 6, 8, 10 and the contract's own.",
        ),
    ] = None,
    parameter: Annotated[
        str | None,
        typer.Option(
            "--parameter",
            metavar="NAME",
            help="Which number is varied. Default: m or l; e is another, and level of sensitive.hierarchy.",
        ),
    ] = None,
    principles: Annotated[
        str | None,
        typer.Option("--principles", metavar="NAME,…", help="Which principles. Default: all that can be."),
    ] = None,
    releases: Annotated[
        int,
        typer.Option(
            "--releases", min=1, help="How many of the snapshots that are there, from the first on."
        ),
    ] = 3,
    people: Annotated[
        int, typer.Option("--people", min=1, help="Of larger snapshots, a sample of about so many people.")
    ] = 10_000,
    form: Annotated[
        Form, typer.Option("--format", help="How the answer is written; csv and json for programs.")
    ] = Form.table,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw errors against promises: an .svg file."),
    ] = None,
    home: HomePath = None,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Compare principles and their numbers before anything is published, and change nothing.

    Each line is a series of releases, made and audited as `republish release` would make a new one of the
    snapshots that are there. The columns: the largest probability that is promised, and the largest that an
    attack found; learned, the share of people guessed right by who learns from the groups of all releases,
    which no principle bounds; lost, the share of its domain that an interval covers (NCP); the share of
    counterfeits among published tuples; the share of people held back; and the median error of counts, each
    of people with one sensitive value (of one column) and quasi-identifiers in half of their domain, around
    those of somebody in the table.

    In a sample, intervals are wider and errors larger than in the whole table, and the largest m that works
    may be smaller; the order of the lines is mostly the same. Exit code 3 if every line is refused.
    """
    from republish.orchestration.cli.comparing import show_comparison
    from republish.orchestration.contracts.contract_file import load_contract

    works = show_comparison(
        load_contract(contract),
        home,
        values=values,
        parameter=parameter,
        principles=principles,
        most_releases=releases,
        most_people=people,
        form=form,
        plot=plot,
    )
    if not works:
        raise typer.Exit(3)
