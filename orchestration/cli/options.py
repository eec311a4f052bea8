"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ContractPath = Annotated[
    Path, typer.Argument(metavar="CONTRACT", help="The YAML file that declares the product.")
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
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
"""No command looks at it: `main` finds it among the words, also where a command never began."""
