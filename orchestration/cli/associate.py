"""`republish associate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from republish.orchestration.cli.estimate import say_held_back, show
from republish.orchestration.cli.options import Debug, Form, Limit
from republish.orchestration.cli.terminal import err, out, raw
from republish.orchestration.cli.work import Work

RIGHT = (
    "On 26 tables that this was not tuned on, 99 % of such intervals had the truth in them"
    " (docs/measured/README.md)."
)
"""How often what is told was right."""
LITTLE = (
    "By {columns}, values differ by little more than the errors: the intervals say by how little, and the"
    " estimates may be off by a fifth."
)
"""What is told of columns where estimates say less than intervals."""

if TYPE_CHECKING:
    import polars as pl

    from republish.orchestration.readers.associations import Found


def associate(
    published: Annotated[
        Path,
        typer.Argument(
            metavar="PUBLISHED", help="The first release of a series, with exact quasi-identifiers."
        ),
    ],
    of: Annotated[str, typer.Option("--of", metavar="COLUMN", help="The sensitive column.")],
    on: Annotated[
        list[str],
        typer.Option(
            "--on",
            metavar="COLUMN",
            help="A quasi-identifier that its values may go with. Several: each at given others.",
        ),
    ],
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same answer.")] = 1,
    form: Annotated[
        Form, typer.Option("--format", help="How the answer is written; csv and json for programs.")
    ] = Form.table,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Estimate how each sensitive value goes with other columns, or say that it can't be told.

    Whether a person has a value (1 or 0) is regressed on all columns of --on: a slope is by how much the
    share of people with the value grows per unit of a number, or per year of a date; a difference is that
    between the shares at two labels. A mean is that of the number over the people with the value; other
    columns are not held equal. What groups hide is found by simulating releases, which takes minutes.
    docs/measured/README.md says how often it was right.
    """
    from republish.anonymize.learning.associations import SIMULATED
    from republish.orchestration.readers.associations import associated
    from republish.orchestration.readers.estimate.folders import described, held_back
    from republish.orchestration.storage.in_stores import fetched

    with fetched([published]) as (folder,), Work(published.name, parts=SIMULATED) as work:
        found, held = associated(folder, of, on, seed, work.begin), held_back(described(folder))
    if form is Form.json:
        answer = {
            "associations": found.rows.to_dicts(),
            "little": found.little,
            "misfit": round(found.misfit, 3),
            "simulated": found.releases,
            "held_back": held,
        }
        raw(json.dumps(answer, ensure_ascii=False, indent=2, default=str) + "\n")
        return
    console = out
    if form is Form.csv:
        raw(found.rows.write_csv(float_scientific=False))
        console = err
    else:
        show(_in_words(found.rows))
    console.print(_said(found))
    say_held_back(held, console)


def _in_words(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows as people read them: with three digits, and words where nothing can be told."""
    import polars as pl

    digits = {
        name: pl.Series(name, [None if one is None else f"{one:.3g}" for one in rows[name]], pl.String)
        for name in ("estimate", "low", "high")
    }
    shown = rows.with_columns(pl.col("label").fill_null(""), *digits.values())
    return shown.with_columns(
        pl.col("estimate").fill_null("can't tell"), pl.col("low").fill_null(""), pl.col("high").fill_null("")
    )


def _said(found: Found) -> str:
    """What it took, and how far to trust it."""
    from republish.anonymize.learning.associations import MOST_MISFIT

    told, asked = len(found.rows.drop_nulls("estimate")), len(found.rows)
    said = [f"{told:,} of {asked:,} can be told, by {found.releases} simulated releases."]
    fit = f"Misfit {found.misfit:.1f}:"
    if found.misfit <= 1:
        said.append(f"{fit} simulated releases are like this one.")
    else:
        times = min(found.misfit, MOST_MISFIT)
        said.append(
            f"{fit} it is about 1 where simulated releases are like this one. Intervals are {times:.1f} times"
            " as wide for it."
        )
    if found.misfit > MOST_MISFIT:
        said.append("That may be too little: this release is not like the simulated ones.")
    if found.little:
        said.append(LITTLE.format(columns=", ".join(found.little)))
    return " ".join([*said, *([RIGHT] if told else [])])
