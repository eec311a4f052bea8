"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """How an answer is written."""

    table = "table"
    csv = "csv"
    json = "json"


def _raised(given: list[str] | None) -> list[str] | None:
    if given:
        from republish.orchestration.limits import raise_limits

        raise_limits(given)
    return given


ContractPath = Annotated[
    Path, typer.Argument(metavar="CONTRACT", help="The YAML file that declares the product.")
]
PublishedPath = Annotated[
    Path,
    typer.Argument(
        metavar="PUBLISHED",
        help="A published release or series, or its address in an object store: s3://bucket/hospital/v1.",
    ),
]
SignKey = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        metavar="KEY",
        help="An Ed25519 private key (PEM): sign what is written, and the manifests of the releases. A"
        " passphrase is read from REPUBLISH_SIGN_PASSPHRASE.",
    ),
]
HomePath = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Your own folder: key, history, private and published releases."
        " Default: REPUBLISH_HOME, or the nearest var beside or above the contract, or ./var.",
    ),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        callback=_raised,
        help="Read larger files than usual: rows=100000000, columns=…, labels=…, megabytes=…, or text=…"
        " (megabytes of a contract or hierarchy). REPUBLISH_LIMITS does the same.",
    ),
]
"""No command looks at it: it holds for all that is read from here on."""
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
"""No command looks at it: `main` finds it among the words, also where a command never began."""
