"""The answer of `republish compare`: a table of options, and a chart of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import polars as pl

from republish.anonymize.contract import Product
from republish.anonymize.errors import ContractError
from republish.anonymize.people.rows import counted_in
from republish.anonymize.plot import Lines, Point
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.comparison import (
    LADDER,
    Compared,
    Option,
    compare_levels,
    compare_options,
    lines,
    snapshots_to_compare,
)
from republish.orchestration.chain.rehearsal import rehearsal
from republish.orchestration.cli.options import Form
from republish.orchestration.cli.terminal import out, raw
from republish.orchestration.cli.work import Work
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.drawing import as_svg
from republish.orchestration.expectations import start_judge
from republish.orchestration.series.homes import default_home
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

PICTURE = ".svg"
"""The ending of a picture's file."""
FIGURES = {
    "promised": "promised",
    "best_guess": "best guess",
    "learned": "learned",
    "information_lost": "lost (NCP)",
    "counterfeits": "counterfeits",
    "held_back": "held back",
    "median_error": "median error",
}
"""The heads of the table, by the fields of an option under them."""
WIDTH = 12
"""The least width of the table's first column."""
LEVEL = "level"
"""The word of `--parameter` for the levels of the hierarchies of sensitive columns."""


def show_comparison(
    file: ContractFile,
    home: Path | None,
    *,
    values: str | None,
    parameter: str | None,
    principles: str | None,
    most_releases: int,
    most_people: int,
    form: Form,
    plot: Path | None,
) -> bool:
    """Compare options on a contract's snapshots and print them; parameters as `republish compare` has them.

    Returns
    -------
    bool
        Whether any option works.

    Raises
    ------
    ContractError
        If the contract or one of the words of the command can't be compared.
    SnapshotError
        If there is nothing to compare with.
    """
    if plot is not None and plot.suffix != PICTURE:
        raise ContractError("--plot", [("", f"{plot.name} must end in {PICTURE}")])
    series = Series(file, Home.named(home, default_home(file)))
    is_level = parameter == LEVEL
    asked = [] if is_level else lines(file.contract, principles.split(",") if principles else None, parameter)
    numbers = [] if is_level else _numbers(values, file.contract, parameter)
    with rehearsal(series) as tried:
        with Work(series.name) as work:
            start_judge()
            compared = snapshots_to_compare(tried, most_releases, most_people, work.begin)
        with Work(series.name, parts=len(asked) * len(numbers)) as work:
            found = (
                compare_levels(tried, most_releases, most_people, work.begin)
                if is_level
                else compare_options(tried, compared, asked, numbers, work.begin)
            )
            options = list(found)
    return _shown(series, compared, options, form, plot)


def _shown(
    series: Series, compared: Compared, options: Sequence[Option], form: Form, plot: Path | None
) -> bool:
    """Print and draw options; whether any of them works."""
    if form is Form.json:
        rows = [asdict(option) for option in options]
        raw(json.dumps({"series": series.name, **compared.about(), "options": rows}, indent=2) + "\n")
    elif form is Form.csv:
        raw(pl.DataFrame(options, infer_schema_length=None).write_csv(float_scientific=False))
    else:
        _print(series, compared, options)
    if plot is not None:
        plot.write_text(as_svg(_chart(options)), encoding="utf-8")
    return any(option.refused is None for option in options)


def _numbers(values: str | None, contract: Product, parameter: str | None) -> list[int]:
    """The values that are asked for; else the usual ones, and the contract's own."""
    if values is None:
        choice = principle_of(contract).choice
        own = choice and getattr(contract.principle, parameter or choice.parameters[0], None)
        return sorted({*LADDER, *([own] if own else [])})
    numbers = [int(one) if one.strip().isdecimal() else 0 for one in values.split(",")]
    if min(numbers) < 2:
        raise ContractError("--values", [("", f"{values} must be whole numbers from 2 on: 2,4,6")])
    return sorted(set(numbers))


def _print(series: Series, compared: Compared, options: Sequence[Option]) -> None:
    number, sampled = len(compared.releases), compared.sampled < compared.people
    snapshots = f"{number} snapshots, {compared.releases[0]} to {compared.releases[-1]}"
    counted, different = counted_in(series.contract), compared.different_people
    people = f"{f'a sample of {compared.sampled:,} of ' if sampled else ''}{compared.people:,} {counted}"
    people += "" if different is None else f" of {different:,} people"
    frequent = _percent(compared.most_frequent)
    out.print(
        f"{series.name}: {snapshots if number > 1 else f'the snapshot of {compared.releases[0]}'}, {people}"
    )
    several = compared.sensitive is not None and compared.sensitive.is_several
    named = "the most frequent value" + (" of a column" if several else "")
    out.print(f"Without any release, {named} is a right guess for {frequent} of the {counted}.")
    width = max(WIDTH, *(len(_name(one)) + 1 for one in options))
    out.print(" " * width + "".join(f"{head:>{len(head) + 2}}" for head in FIGURES.values()))
    for (principle, release_format), group in groupby(options, lambda one: (one.principle, one.format)):
        line = list(group)
        out.print(f"{principle}, {release_format}")
        if any(one.refused is None for one in line):
            for option in line:
                out.print(
                    f"{_name(option):{width}}{_figures(option) if option.refused is None else '   refused'}"
                )
        if reason := _why(line, sampled):
            out.print(f"  {reason}")
    if any(option.is_declared for option in options):
        out.print("* what the contract says")


def _name(option: Option) -> str:
    return f"  {option.parameter} = {option.value}{' *' if option.is_declared else ''}"


def _figures(option: Option) -> str:
    return "".join(f"{_percent(getattr(option, name)):>{len(head) + 2}}" for name, head in FIGURES.items())


def _why(line: Sequence[Option], sampled: bool) -> str:
    """Why the first number that is refused is, and the largest number that is not; nothing if none is."""
    if refused := [one for one in line if one.refused is not None and one.parameter.endswith(LEVEL)]:
        return "; ".join(
            f"{one.parameter} {one.value} is refused: {(one.refused or '').split('. ')[0]}" for one in refused
        )
    works = max((one.value for one in line if one.refused is None), default=0)
    refused = [one for one in line if one.refused is not None and one.value > works]
    if not refused:
        return ""
    first = refused[0]
    reason = f"{(first.refused or '').split('. ')[0]}{' (in the sample)' if sampled and works else ''}"
    if not works:
        return f"refused: {reason}"
    return f"the largest {first.parameter} that works is {works}; {first.value} is refused: {reason}"


def _chart(options: Sequence[Option]) -> Lines:
    """The error of counts against what is promised, a line for each principle and format."""
    points = [
        (
            f"{one.principle}, {one.format}",
            Point(
                100 * one.promised, 100 * one.median_error,
                f"{one.parameter} = {one.value}", is_marked=one.is_declared,
            ),
        )
        for one in options
        if one.refused is None and one.promised is not None and one.median_error is not None
    ]  # fmt: skip
    return Lines(
        "errors against promises",
        "largest probability of a person's value that is promised, %",
        "median error of counts, %",
        {name: tuple(point for _, point in line) for name, line in groupby(points, lambda one: one[0])},
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
