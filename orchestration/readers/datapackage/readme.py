"""`README.md` of a published folder: what it is, and how to check and read it. Made of the package alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from republish.anonymize.formats import TAXONOMY_CUTS
from republish.orchestration.readers.datapackage.words import (
    OF_ROWS,
    held_back_words,
    sensitive_columns,
)
from republish.orchestration.readers.estimate.names import column_names
from republish.orchestration.storage.parts import SUFFIX

README = "README.md"


DATED = "Every table begins with the column `release`. Read `../*/{}` to get all releases as one dated table."
IN_PARTS = (
    "Each table is a folder of files, and each file has the rows that follow those of the file before it:"
    " read `{}` as one table."
)

OF_GROUPS = "It is treated under {principle}: no row says which value a person has."
OF_A_VIEW = (
    "It has a row for each person, and no identifier. Some columns have broader labels in place of values;"
    " others are published as they are. What readers can learn by joining it with other releases is limited:"
)


def readme(package: Mapping[str, Any], documents: Mapping[str, str]) -> str:
    """The text of a release's README.

    Parameters
    ----------
    package
        The content of its `datapackage.json`.
    documents
        What each further file of the folder is, by name.
    """
    own = package["republish"]
    title = package.get("title", f"{own['product']}/{own['series']}")
    parts = [
        f"# {title}: release {own['release']}",
        package.get("description", ""),
        _what_it_is(own),
        "\n".join(f"- {sentence}" for sentence in own["promised"]),
        own.get("not_promised", ""),
        own.get("ends", ""),
        own.get("missing", ""),
        held_back_words(own),
        *map(_values, sensitive_columns(own)),
        _files(package, documents),
        _how_to_read(package),
        "Check the files with `sha256sum -c SHA256SUMS`, and the whole series with `republish verify`.",
        _how_to_count(package),
        f"Terms of use: {own['terms']}" if "terms" in own else "",
        *(f"Licence: {next(iter(licence.values()))}" for licence in package.get("licenses", [])),
        f"Cite as: {package['citation']}" if "citation" in package else "",
        *(f"Contact: {contributor['title']}" for contributor in package.get("contributors", [])),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _what_it_is(own: Mapping[str, Any]) -> str:
    principle = own["principle"]["name"].replace("_", "-")
    what = OF_A_VIEW if own["format"] == TAXONOMY_CUTS.name else OF_GROUPS.format(principle=principle)
    return f"This is release {own['n']} of the series {own['product']}/{own['series']}. {what}"


def _values(sensitive: Mapping[str, Any]) -> str:
    return f"`{sensitive['name']}` is what nobody may learn of a person. {sensitive['means']}"


def _files(package: Mapping[str, Any], documents: Mapping[str, str]) -> str:
    files = {
        _path(package, resource): resource.get("description", "Which values each label stands for.")
        for resource in package["resources"]
    }
    rows = (f"| `{name}` | {what} |" for name, what in {**files, **documents}.items())
    return "\n".join(["| file | what it is |", "|---|---|", *rows])


def _path(package: Mapping[str, Any], resource: Mapping[str, Any]) -> str:
    """The file of a table or document, or the pattern of its files."""
    name = resource["name"]
    return _pattern(package, name) if _is_in_parts(package, name) else resource["path"]


def _how_to_read(package: Mapping[str, Any]) -> str:
    """How to read a table of all releases, and one that is in parts."""
    main = package["resources"][0]["name"]
    path = _pattern(package, main)
    dated = DATED.format(path.replace(main, "<table>"))
    return f"{IN_PARTS.format(path)}\n\n{dated}" if _is_in_parts(package, main) else dated


def _how_to_count(package: Mapping[str, Any]) -> str:
    if package["republish"]["format"] == TAXONOMY_CUTS.name:
        return "Rows are people under labels of hierarchies: counts of these labels are exact."
    counterfeits = _pattern(package, "counterfeits")
    of_rows, counted = (f"{OF_ROWS} ", "rows") if package["republish"].get("rows") else ("", "people")
    return (
        f"{of_rows}Some rows may be counterfeits, which stand for nobody; `{counterfeits}` says how many"
        f" there are in which group. `republish estimate` counts {counted}, with an error bar, or computes"
        " whatever else SQL says of them. `republish copies` writes tables of people as they may be, for all"
        " other tools. In this folder:\n\n"
        f"```sh\nrepublish estimate .{_by(package)}\nrepublish copies . ~/copies\n```"
    )


def _by(package: Mapping[str, Any]) -> str:
    """The option that counts by a column as it is: a sensitive one, or else a category; nothing if none is.

    Numbers in bins are drawn within them, so that each would be counted by itself.
    """
    own = package["republish"]
    attributes, sensitive = own["attributes"], sensitive_columns(own)
    names = column_names(package)
    fitting = [
        *(name for name, one in zip(names[len(attributes) :], sensitive, strict=True) if not one.get("bins")),
        *(name for name, one in zip(names, attributes, strict=False) if one["kind"] == "category"),
    ]
    typed = (shlex.quote(name) for name in fitting if name.isprintable() and "`" not in name)
    return next((f" --by {name}" for name in typed), "")


def _pattern(package: Mapping[str, Any], table: str) -> str:
    """The file of a table, or the pattern of those of its parts; nothing of it is the package's own words."""
    return f"{table}/part-*{SUFFIX}" if _is_in_parts(package, table) else f"{table}{SUFFIX}"


def _is_in_parts(package: Mapping[str, Any], table: str) -> bool:
    """Whether a table is a folder of several files."""
    return any(
        one.get("name") == table and isinstance(one.get("path"), list) for one in package.get("resources", ())
    )
