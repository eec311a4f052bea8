"""The page of a report, for readers who were not there: figures, never a person, a path or a small count.

`shown` makes the numbers coarse; `report.html.j2` has the sentences. A page stands alone and prints on A4.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jinja2

from republish.orchestration.audit.report.charts import Drawn
from republish.orchestration.audit.report.coarse import coarse, public_names, without_small
from republish.orchestration.audit.report.words import CHANGED, combinations, in_words, reading, releases
from republish.orchestration.written import NONE, figure, filled, percent, points

MEASURED_ON = {
    "learned": 1,
    "error": 1,
    "at_random": 1,
    "most_frequent": 1,
    "with_truth": 2,
    "from_truth": 2,
    "surest_twentieth": 20,
    "surest_hundredth": 100,
}
"""The shares that are guessed right, and of one in how many people they are measured."""
COUNTS = {"deferred"}
"""The figures that are not promised and count people."""


def page(found: Mapping[str, Any], charts: Sequence[Sequence[Drawn]]) -> str:
    """The report as a page.

    Parameters
    ----------
    found
        What the audit found (`raw`).
    charts
        Those of each series (`charts.of_series`).
    """
    return _environment().get_template("report.html.j2").render(**shown(found), charts=charts)


def shown(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says: the parts of `raw` that others may read, with coarse numbers alone."""
    names = public_names([one["name"] for one in found["series"]])
    rows, asked = ([_row(row, names) for row in found[part] or ()] for part in ("promises", "asked"))
    broken = {(row["series"], row["promise"]) for row in rows if not row["holds"]}
    dates = [release["release"] for one in found["series"] for release in one["releases"]]
    copied = ("product", "date", "auditor", "purpose", "governance", "software", "verdict", "keeps_contract")
    contract = {name: part for name, part in found["contract"].items() if name != "file"}
    return {
        **{name: found[name] for name in (*copied, "background_knowledge")},
        "account": [
            filled(line["what"], [without_small(count) or 0 for count in line["people"]])
            for line in found["account"]
        ],
        "contract": contract,
        "promises": rows,
        "asked": asked,
        "missed": [
            in_words(row)
            for row in asked
            if not row["holds"] and (row["series"], row["promise"]) not in broken
        ],
        "leading": _leading(rows),
        "dates": sorted(dates),
        "series": [_series(one, names) for one in found["series"]],
        "residual_risk": _residual_risk(found["residual_risk"]),
        "not_covered": [
            {
                "what": filled(gap["what"], [without_small(count) or 0 for count in gap["people"]]),
                "why": gap["why"],
                "series": names.get(gap["series"], gap["series"]),
            }
            for gap in found["not_covered"]
        ],
        "published": found["published"],
        "reading": reading(of_rows="rows" in contract),
        "changed": CHANGED if any(row["promised_in"] for row in rows) else None,
    }


def _row(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    counts = {name: row[name] for name in ("people", "broken", "undecided")}
    if row["of_people"]:
        counts = {name: without_small(count) for name, count in counts.items()}
    series = names.get(row["series"], row["series"])
    return {**row, **counts, "series": series, "promised_in": releases(row["promised_in"] or ())}


def _leading(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the promise that matters most: the first one about people that has a figure."""
    with_figure = [row for row in rows if row["found"] is not None]
    first = next(
        ((row["series"], row["promise"]) for row in with_figure if row["of_people"] and row["bound"]), None
    )
    return [row for row in with_figure if (row["series"], row["promise"]) == first]


def _series(series: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    last = series["releases"][-1]
    guesses = _guessed(last["guesses"])
    presence = series["presence"]
    return {
        "name": names[series["name"]],
        "first": series["releases"][0]["release"],
        "last": last["release"],
        "releases": len(series["releases"]),
        "alike": without_small(last["figures"].get("alike")),
        "guesses": guesses,
        "is_guessed": guesses is not None and guesses["learned"] is not None,
        "by_column": [{"column": one["column"], **(_guessed(one) or {})} for one in last["by_column"]],
        "largest_share": series["largest_share"],
        "not_promised": [filled(one["words"], [_not_promised(one)]) for one in series["not_promised"]],
        "presence": presence and {name: presence[name] for name in ("advantage", "error", "excluded")},
        "measures": list(_measures(series["releases"])),
    }


def _guessed(found: Mapping[str, Any] | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    shares = {name: coarse(found[name], found["people"] // some) for name, some in MEASURED_ON.items()}
    return {**shares, "group_known": found["hosted"] / found["people"]}


def _not_promised(one: Mapping[str, Any]) -> float | str:
    """A figure that is measured on true values is coarse, and a small count of people is not shown."""
    if one["figure"] in COUNTS:
        return without_small(one["found"]) or 0
    found = one["found"] if one["people"] is None else coarse(one["found"], one["people"])
    return NONE if found is None else found


def _measures(several: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The measures of each release by itself, of those that have any."""
    for release in several:
        figures = release["figures"]
        if figures.get("smallest_class") is not None:
            shares = {name: figures[f"{name}_risk"] for name in ("prosecutor", "journalist", "marketer")}
            k, l = figures["smallest_class"], figures.get("fewest_values_of_a_class")
            lone_ends = without_small(figures.get("lone_ends"))
            yield {"release": release["release"], "k": k, "l": l, **shares, "lone_ends": lone_ends}


def _residual_risk(risk: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What is guessed right at worst; None of too few people.

    `beside` compares it with what the contract allows, by more than chance makes.
    """
    if risk is None:
        return None
    stated = {name: risk[name] for name in ("release", "guessed", "without", "promised", "error")}
    if risk["people"] is not None:
        stated |= {name: coarse(risk[name], risk["people"]) for name in ("guessed", "without", "error")}
    if stated["guessed"] is None:
        return None
    above = 0.0 if risk["promised"] is None else stated["guessed"] - risk["promised"]
    is_chance = abs(above) <= 2 * (stated["error"] or 0.0)
    return {**stated, "beside": "chance" if is_chance else "more" if above > 0 else "less"}


@functools.cache  # its templates are compiled once
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("republish.orchestration.audit.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"combinations": combinations}
    environment.filters |= {"figure": figure, "percent": percent, "points": points}
    return environment
