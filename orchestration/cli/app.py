"""The commands of republish, put together. A help text loads neither polars nor Dagster."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from republish.orchestration.cli.associate import associate
from republish.orchestration.cli.audit import audit
from republish.orchestration.cli.backup import backup, restore
from republish.orchestration.cli.catalogue import catalogue
from republish.orchestration.cli.compare import compare
from republish.orchestration.cli.copies import copies
from republish.orchestration.cli.demo import demo
from republish.orchestration.cli.estimate import estimate
from republish.orchestration.cli.forget import forget
from republish.orchestration.cli.init import init
from republish.orchestration.cli.person import person
from republish.orchestration.cli.record import record
from republish.orchestration.cli.release import release
from republish.orchestration.cli.schema import schema
from republish.orchestration.cli.status import status
from republish.orchestration.cli.tidy import tidy
from republish.orchestration.cli.ui import ui
from republish.orchestration.cli.validate import validate
from republish.orchestration.cli.verify import verify

OTHERWISE = {
    "report": "republish audit CONTRACT --out FOLDER writes it",
    "publish": "it is republish release",
}
"""What is done by a command of another name."""


class _Commands(TyperGroup):
    """Commands, of which some that others would look for are called otherwise."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in OTHERWISE:
            ctx.fail(f"No such command '{args[0]}': {OTHERWISE[args[0]]}.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="republish",
    cls=_Commands,
    help="Publish a table of people again and again, so that nobody who collects every release learns"
    " a person's sensitive value.",
    epilog="Exit codes: 0 done, 2 the input or the contract is wrong, 3 refused for privacy, 1 anything"
    " else.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, whether it is read or piped
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from republish.orchestration.cli.terminal import out

        out.print(f"republish {version('republish')}")
        raise typer.Exit


@app.callback()
def _before_any_command(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    from republish.orchestration.storage.home import only_for_the_owner

    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    only_for_the_owner()


of_a_publisher = (
    *(init, schema, status, release, validate, compare, demo, ui, tidy, backup, restore),
    *(person, forget, record, catalogue),
)
for command in (*of_a_publisher, verify, estimate, associate, copies, audit):
    app.command()(command)
