"""`republish release`."""

from __future__ import annotations

from typing import Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, HomePath, Limit


def release(
    contract: ContractPath,
    through: Annotated[
        str | None,
        typer.Option("--through", metavar="RELEASE", help="Stop after this release, e.g. 2024-04-01."),
    ] = None,
    home: HomePath = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 2 if a due release has to wait.")
    ] = False,
    without_upstream: Annotated[
        bool,
        typer.Option(
            "--without-upstream",
            help="Don't wait for the assets that the contract names as upstream: you know that the snapshots"
            " are complete.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Make a product's first release in a home that was found above the contract.",
        ),
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            envvar="REPUBLISH_ENGINE",
            metavar="ENGINE",
            help="Where shards are worked on: local, local[2] for two at a time, spark, or spark[MASTER]."
            " Default: on this machine, as many as fit.",
        ),
    ] = None,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Make every release that is due and not published yet.

    Releases are made in the order of their dates, and each prints one line. Published releases are verified
    and left as they are. The first release that can't be made ends the command; nothing of it is published.
    If the command is killed, run it again: it goes on where it was, and publishes what it would have
    published.

    A due release whose snapshot has not arrived waits. No release can be left out: the next one is built on
    it. If a snapshot never comes, deliver the one before it once more, under the date that is missing.

    If the contract names upstream assets, a release waits until the Dagster in this home knows that each of
    them is materialized for it. --without-upstream ends this waiting.
    """
    from republish.orchestration.cli.releasing import make_due_releases
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.engine.engine import named_engine

    named_engine(engine)
    file = load_contract(contract)
    made = make_due_releases(file, through, home, without_upstream=without_upstream, yes=yes)
    if made.waits and strict:
        raise typer.Exit(2)
