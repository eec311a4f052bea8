"""The version of a report that is handed out: no paths of the publisher's, and no small counts of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from anonymize.text import Text
from orchestration.audit.report.conclusion import conclusion

SMALL = 10
"""Counts of people from 1 up to this are not shown."""
PROMISE = (
    "promise",
    "meaning",
    "bound",
    "of_people",
    "found",
    "required",
    "holds",
    "promised_in",
    "broken_in",
)
SERIES = ("not_promised", "beside_guesses", "largest_share", "equivalence_by_column")
ABOUT = (
    *("product", "date", "auditor", "purpose", "governance", "software"),
    *("holds", "keeps_contract", "verdict", "residual_risk", "columns"),
)
SHARES = ("learned", "at_random", "most_frequent", "from_truth", "error", "group_known")


def handed_out(described: Mapping[str, Any]) -> dict[str, Any]:
    """A report without what is the publisher's own business.

    Left out are paths, the files of the truth and of the private folder, how many people have how many
    candidate values, and tables by signature. Counts of people below `SMALL` are stated as "fewer than 10".

    Parameters
    ----------
    described
        What the report says (`describe`).
    """
    names = public_names([one["name"] for one in described["series"]])
    told = {part: described[part] for part in ABOUT} | {
        "contract": {part: said for part, said in described["contract"].items() if part != "file"},
        "background_knowledge": described["background_knowledge"],
        "promises": [_row(row, names) for row in described["promises"]],
        "asked": described["asked"] and [_row(row, names) for row in described["asked"]],
        "series": [_series(one, names) for one in described["series"]],
        "not_covered": [
            gap
            | {
                "people": [without_small(count) for count in gap["people"]],
                "series": names.get(gap["series"], gap["series"]),
            }
            for gap in described["not_covered"]
        ],
        "read": described["published"],
    }
    return told | {"conclusion": conclusion(told)}


def _row(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    told = {part: row[part] for part in PROMISE}
    return told | {"series": names.get(row["series"], row["series"]), **_counts(row)}


def _counts(row: Mapping[str, Any]) -> dict[str, int | str | None]:
    """The counts of a promise: whole where they are of files, rows or groups."""
    counts = {part: row[part] for part in ("people", "broken", "undecided")}
    if not row["of_people"]:
        return counts
    return {part: without_small(count) for part, count in counts.items()}


def without_small(count: int | None) -> int | str | None:
    """A count of people, or words in its place if it is small and not 0."""
    return Text("fewer than {small}", small=SMALL) if count is not None and 0 < count < SMALL else count


def public_names(names: Sequence[str]) -> dict[str, str]:
    """What series are called outside: a series that is known by its path alone gets the path's last part."""
    short = [PurePath(name).name if PurePath(name).is_absolute() else name for name in names]
    return {
        name: called if short.count(called) == 1 else f"{called} ({number})"
        for number, (name, called) in enumerate(zip(names, short, strict=True), start=1)
    }


def _series(series: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    presence = series["presence"]
    return {
        "name": names[series["name"]],
        **{part: series[part] for part in SERIES},
        "presence": None
        if presence is None
        else {part: presence[part] for part in ("excluded", "advantage", "error")},
        "intersection": [],
        "equivalence": [],
        "releases": [_release(release) for release in series["releases"]],
    }


def _release(release: Mapping[str, Any]) -> dict[str, Any]:
    useful, guesses, by_column = release["useful"], release["guesses"], release["by_column"]
    return {
        "release": release["release"],
        "tuples": release["tuples"],
        "reidentification": release["reidentification"],
        "useful": None if useful is None else useful | {"held_back": without_small(useful["held_back"])},
        "guesses": None if guesses is None else {part: guesses[part] for part in SHARES},
        "by_column": by_column and by_column | {"ruled_out": without_small(by_column["ruled_out"])},
    }
