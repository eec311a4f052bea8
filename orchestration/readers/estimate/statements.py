"""`estimate.sql`: the statements that estimate counts of people from a published folder, for DuckDB alone."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import Any

import jinja2

from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.learning.forgeries import (
    DRAW_ROUNDS,
    DRAWS,
    FEW,
    HARDLY,
    SIGNATURE_SPREAD,
    VALUE_SPREAD,
)
from republish.anonymize.learning.spread import (
    ATOM,
    BINS,
    FEWEST_ENDS,
    LEAST_END,
    LEAST_LIKENESS,
    ROUGH,
    ROUGHLY,
    ROUNDS,
    STEPPED,
    UNLIKE,
)
from republish.orchestration.readers.datapackage.words import GRID, held_back_words, sensitive_columns
from republish.orchestration.readers.estimate.attributes import FRACTIONS
from republish.orchestration.storage.parts import SUFFIX

ESTIMATE = "estimate.sql"
OURS = {
    *("release", "copy"),
    *(
        "estimate_group",
        "estimate_point",
        "estimate_part",
        "estimate_tuples",
        "estimate_value",
        "estimate_real",
    ),
    *("estimate_weight", "estimate_split", "estimate_expected", "estimate_model"),
    *("estimate_cell", "estimate_place"),
}
"""The statements' own names wherever columns of the release are named, too."""
POINTS = 16
"""A group's people stand at so many points."""
CELLS = 1024
"""The step that a share of people lies in is looked up by this share in so many parts: many for steps few of
which are in one part, and few enough to be made at once."""
THINNED = 2
"""One point of so many is looked at where the condition is tried on people of every value."""
CUTS = 3
"""Groups are divided into 2 to the power of so many regions, as m-invariance divides people."""
FEWEST_GROUPS = 64
"""A region of fewer groups is not cut."""
TAU_SQUARED = (0.0001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.2, 2.4)
"""How much values may differ: variances of the log odds of meeting a condition, within a stratum."""
USUAL_TAU_SQUARED, SPREAD = 0.1, 1.5
"""The prior of that variance is log-normal: its median, and the standard deviation of its logarithm."""
AT_ENDS = 1.5
"""So many people of a group are taken to stand at the ends of its intervals for certain."""
BY_RANK = "gda"
"""The method of whose first release people of a group have about the same weighted rank."""
CROWDED, TOGETHER, UNEVEN, UNEVEN_BY_RANK = 1.75, 0.07, 0.17, 0.5
"""Where a group's people are within their intervals is a model. The variance of a count by chance is so many
times that of people who stand independently, and so many times more for each of the group's people, because
they err together. The squares of the differences that other models make count `UNEVEN` times; but those of
places in line, and of columns that go with each other, count `UNEVEN_BY_RANK` times where people of a group
have about the same weighted rank, so that a place on one attribute excludes many on another
(benchmarks/measures/estimates.py)."""
CLASSES, MOST_LABELS, LINKED = 16, 32, 0.6
"""Two attributes are compared in `CLASSES` parts of equally many people each, or by their labels if there are
no more than `MOST_LABELS`. They go with each other if people differ from what independent attributes would
have by more than `LINKED` times the squares of chance (benchmarks/measures/estimates.py)."""
MOVES, MOVED, ENOUGH = 4, 4, 20_000
"""A condition is tried with a group's people at so many places of a cell of `min_width`, for one of so many
of its points, and in about so many groups."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of the golden ratio are evenly spread."""
OFF_TYPICAL = 0.1
"""The standard deviation of a bin's mean from the typical number, and of a cell's from that of its points, in
widths of the bin or cell."""
DRAWS_APART = 1.3
"""Draws of counterfeits count as if they were so many times as far apart: odds are not the same in every
signature."""
ALIKE, LASTING = 5, 0.98
"""What is by chance in the errors of two releases correlates by the share of people who are in both: about
that of people whom signatures have in common, to this power. What lasts correlates by so much."""
STEPS = (1, 13, 7, 19, 25, 11, 29, 5, 23, 17, 3, 31, 9, 27, 15, 21)
"""Odd numbers: multiples of each visit all points."""
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
"""Fractions of multiples of their roots are evenly spread, and those of two are not alike."""
ESTIMATED = {"generalization": "create_points_of_intervals", "anatomy": "create_points_of_tuples"}
"""The statements that make points of the groups, by the release format."""
VIEW = "taxonomy_cuts"
"""The release format whose rows are people: nothing has to be estimated."""


def estimate_sql(package: Mapping[str, Any]) -> str | None:
    """The statements for a release, or None if it is a view, whose rows are people.

    `package` is the content of its `datapackage.json`.
    """
    if package["republish"]["format"] == VIEW:
        return None
    words = _words(package)
    words["checks"] = _template("create_estimate_checks").render(words)
    statements = (
        "create_estimate_settings",
        ESTIMATED[package["republish"]["format"]],
        "create_estimate_regions",
        "create_estimate",
        "create_estimate_numbers",
    )
    return "\n".join(_template(name).render(words) for name in statements)


def _words(package: Mapping[str, Any]) -> dict[str, Any]:
    """The words of the templates on a release."""
    own = package["republish"]
    names = [quoted(name) for name in column_names(package)]
    of = len(own["attributes"])
    columns, sensitive = names[:of], names[of:]
    is_exact = own["format"] == "anatomy"
    attributes = [
        {"column": column, **_attribute(number, one)}
        for number, (column, one) in enumerate(zip(columns, own["attributes"], strict=True))
    ]
    return {
        "title": _one_line(f"{own['product']}/{own['series']}"),
        "example": _one_line(sensitive[0]),
        "column_list": _one_line(", ".join(names)),
        **_values(sensitive),
        **_held_back(own),
        "off_typical": OFF_TYPICAL,
        "binned": [
            name for name, one in zip(sensitive, sensitive_columns(own), strict=True) if one.get("bins")
        ],
        "file": partial(pattern, package),
        "points_columns": ", ".join(f"points.{column}" for column in columns),
        "attributes": attributes,
        "fractions": [one for one in attributes if one["tolerance"]],
        "celled": [
            one
            for one, declared in zip(attributes, own["attributes"], strict=True)
            if declared.get("ends") == GRID
        ],
        "moves": MOVES,
        "moved": MOVED,
        "enough": ENOUGH,
        "stepped": STEPPED,
        "unlike": UNLIKE,
        "rough": ROUGH,
        "roughly": ROUGHLY,
        "golden": GOLDEN,
        "lacking": [one for one in attributes if one["missing"]],
        "is_missing_said": any(one["missing"] for one in attributes)
        or any(MISSING in (one.get("values") or ()) for one in sensitive_columns(own)),
        "is_bin_missing": (
            is_bin_missing := any(
                one.get("bins") and MISSING in (one.get("values") or ()) for one in sensitive_columns(own)
            )
        ),
        "number_of_bin": "TRY_CAST({} AS DOUBLE)".format if is_bin_missing else "{}::DOUBLE".format,
        "bins": BINS,
        "cells": CELLS,
        "atom": ATOM,
        "fewest_ends": FEWEST_ENDS,
        "points": POINTS,
        "rounds": ROUNDS,
        "thinned": 1 if is_exact else THINNED,
        "unbiased": 0 if is_exact else POINTS / (POINTS - THINNED),
        "is_exact": is_exact,
        "exact": "beside * (1 - least(1, y))" if is_exact else "placed",
        "crowded": CROWDED,
        "together": TOGETHER,
        "evenly": 0 if is_exact else UNEVEN,
        "unevenly": 0 if is_exact else UNEVEN_BY_RANK if is_by_rank(own) else UNEVEN,
        "classes": CLASSES,
        "most_labels": MOST_LABELS,
        "linked": LINKED,
        "least_end": LEAST_END,
        "at_ends": AT_ENDS,
        "least_likeness": LEAST_LIKENESS,
        "draws": DRAWS,
        "draw_rounds": DRAW_ROUNDS,
        "draws_apart": DRAWS_APART,
        "value_spread": VALUE_SPREAD,
        "signature_spread": SIGNATURE_SPREAD,
        "few": FEW,
        "hardly": HARDLY,
        "alike": ALIKE,
        "lasting": LASTING,
        "cuts": CUTS,
        "groups": FEWEST_GROUPS,
        "grid": ", ".join(f"({tau_squared}, {_prior(tau_squared):.4f})" for tau_squared in TAU_SQUARED),
    }


def _values(sensitive: Sequence[str]) -> dict[str, Any]:
    """How the statements read a value from the columns of a file, and write it in columns again.

    Of several columns it is one value for the statements, of the type STRUCT.
    """
    if len(sensitive) == 1:
        return {
            "value_columns": "value",
            "value": "published.value",
            "is_several": False,
            "value_text": "value",
            "shown": lambda value: f"{value} AS {sensitive[0]}",
            "is_missing": lambda value: f"{value} IS NULL",
        }
    read = [f"value_{number}" for number in range(len(sensitive))]
    together = ", ".join(f"'{name}': published.{name}" for name in read)
    return {
        "value_columns": ", ".join(read),
        "value": f"{{{together}}} AS value",
        "is_several": True,
        "value_text": "value::VARCHAR",
        "shown": lambda value: ", ".join(
            f"{value}['{name}'] AS {column}" for name, column in zip(read, sensitive, strict=True)
        ),
        "is_missing": lambda value: " OR ".join(f"{value}['{name}'] IS NULL" for name in read),
    }


def pattern(package: Mapping[str, Any], table: str) -> str:
    """The file of a table, or the pattern of those of its parts; nothing of it is the package's own words."""
    return f"{table}/part-*{SUFFIX}" if is_in_parts(package, table) else f"{table}{SUFFIX}"


def is_in_parts(package: Mapping[str, Any], table: str) -> bool:
    """Whether a table is a folder of several files."""
    return any(
        one.get("name") == table and isinstance(one.get("path"), list) for one in package.get("resources", ())
    )


def column_names(package: Mapping[str, Any]) -> list[str]:
    """Names of a release's columns in a condition: its attributes, and the sensitive columns last.

    They are the contract's names. SQL does not tell capital letters from small ones: a name that another
    column has but for these gets a number, as DuckDB numbers such columns of a file; so does one of `OURS`.
    The character NUL, which no statement can have in it, is left out.

    `package` is the content of its `datapackage.json`.
    """
    own = package["republish"]
    declared = [one["name"] for one in (*own["attributes"], *sensitive_columns(own))]
    declared = [name.replace("\0", "") or "column" for name in declared]
    folded, taken, names = {name.lower() for name in declared}, set(OURS), []
    for name in declared:
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        free = (one for one in numbered if one.lower() not in folded | taken)
        names.append(next(free) if name.lower() in taken else name)
        taken.add(names[-1].lower())
    return names


def quoted(name: str) -> str:
    """A column's name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as SQL writes it, whatever is in it."""
    return "'" + value.replace("'", "''") + "'"


def _attribute(number: int, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Words of the statements on an attribute: how values become codes from 0 on, and back."""
    low, high, code = f"published.low_{number}", f"published.high_{number}", f"wide.code_{number}"
    exact = f"published.column_{number}"
    width, tolerance, is_ordered, labels = declared.get("min_width"), 0, True, None
    if not isinstance(width, int | float | None):
        raise TypeError(f"min_width of {declared['name']} is no number")
    if declared["kind"] == "category":
        labels = "[" + ", ".join(map(text, declared["labels"])) + "]"
        codes, is_ordered = len(declared["labels"]), False
        ends, decoded = (f"first_{number}.code", f"last_{number}.code"), f"label_{number}.label"
        place = f"list_position({labels}, {exact})"
    elif declared["kind"] == "date":
        first, last = map(dt.date.fromisoformat, declared["domain"])
        codes = (last - first).days + 1
        ends, decoded = (
            (f"{low} - DATE '{first}'", f"{high} - DATE '{first}'"),
            f"DATE '{first}' + {code}::INTEGER",
        )
        place = f"({exact} - DATE '{first}')"
    elif all(isinstance(end, int) for end in declared["domain"]):
        first, last = declared["domain"]
        codes, step = last - first + 1, int(declared.get("step", 1))
        ends, decoded = (f"{low} - ({first})", f"{high} - ({first})"), f"{code} + ({first})"
        if step > 1:
            decoded = f"{code} // {step} * {step} + ({first})"
        place = f"({exact} - ({first}))"
    else:
        first, last = declared["domain"]
        unit = (last - first) / FRACTIONS or 1.0
        codes, tolerance, width = FRACTIONS + 1, 2, width and width / unit
        ends = (
            f"floor(({low} - ({first})) / {unit!r})::BIGINT",
            f"floor(({high} - ({first})) / {unit!r})::BIGINT",
        )
        decoded = f"round({code} * {unit!r} + ({first}), {math.ceil(-math.log10(unit))})"
        decoded = f"coalesce(exact_{number}.number, {decoded})"
        place = f"(({exact} - ({first})) / {unit!r})"
    is_missing = declared.get("missing") == "publish"
    if is_missing and labels:
        decoded = f"coalesce({decoded}, {text(MISSING)})"
    return {
        "number": number,
        "missing": is_missing,
        "labels": labels,
        "code_low": ends[0],
        "code_high": ends[1],
        "decoded": decoded,
        "codes": codes,
        "place": place,
        "cell": "NULL" if width is None else repr(width),
        "tolerance": tolerance,
        "is_ordered": str(is_ordered).lower(),
        "is_gridded": str(declared.get("ends") == GRID).lower(),
        "step": STEPS[number % len(STEPS)],
        "shift": f"sqrt({PRIMES[number % len(PRIMES)]})",
    }


def is_by_rank(own: Mapping[str, Any]) -> bool:
    """Whether people of a group have about the same weighted rank, by what a package says of its release."""
    found: bool = own["principle"].get("method") == BY_RANK and own["n"] == 1
    return found


def _prior(tau_squared: float) -> float:
    """The density of a variance's logarithm, but for a factor."""
    return math.exp(-((math.log(tau_squared / USUAL_TAU_SQUARED) / SPREAD) ** 2) / 2)


def _held_back(own: Mapping[str, Any]) -> dict[str, Any]:
    """How many people are held back whom a count may be scaled to, and the words on all who are."""
    held = own.get("held_back")
    if held and not isinstance(held["people"], int):
        raise TypeError("held_back is no number of people")
    return {
        "held_back": held["people"] if held and not held["by_value"] else None,
        "held_back_words": _one_line(held_back_words(own)),
        "release": dt.date.fromisoformat(own["release"]),
    }


def _one_line(words: str) -> str:
    """Words that stay inside of a comment, whatever a column is called."""
    return " ".join(words.split())


@cache
def _template(name: str) -> jinja2.Template:
    source = resources.files("republish.sql").joinpath(f"{name}.sql.j2").read_text()
    options: dict[str, Any] = {"undefined": jinja2.StrictUndefined, "keep_trailing_newline": True}
    template: jinja2.Template = jinja2.Template(source, **options)
    return template
