"""A draft of a contract: from a table as it is found to lines of YAML, with a comment on each guess."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from textwrap import wrap
from typing import Any

import polars as pl

from republish.anonymize.columns import most_of
from republish.anonymize.errors import as_data
from republish.anonymize.spelling import SEVERAL, normal_form, twins
from republish.orchestration.drafts.columns import Column, is_no_value, labels_of
from republish.orchestration.drafts.domains import bins_of, date_domain, number_domain, step_of, width_of
from republish.orchestration.drafts.found import FoundTable, common_written
from republish.orchestration.drafts.promise import is_in_bins, promise_lines
from republish.orchestration.drafts.roles import MUST_NOT_BE_LEARNT, Roles, has_word
from republish.orchestration.drafts.yaml_lines import GUESS, comment, flow
from republish.orchestration.snapshots.labels import explained
from republish.orchestration.snapshots.no_answer import describe_no_answers, no_answers
from republish.orchestration.snapshots.no_identifier import SAYS, WAYS_OUT, forms_of_none

LISTED = 30
"""So many labels are listed in the contract, more of them in a file."""
AGE = ["age", "alter"]
AGES, DIGITS = (0, 119), (0, 9)
SHARED = 0.01
"""Where each digit of a column is that of such a share of rows, its intervals need no least width."""
BORN = ["birth", "born", "dob", "geburt", "geburtsdatum", "geboren"]
UNNAMED = "a column without a name"
SCHEMA = "republish.schema.json"
"""The file that editors complete a contract by, beside it."""


@dataclass(frozen=True)
class Draft:
    """A contract, and the files of labels that it names."""

    text: str
    files: Mapping[str, str]
    """Their content, by name."""
    said: tuple[str, ...]
    """What it says, in lines for a terminal."""
    guesses: int
    """Comments on something uncertain."""


@dataclass(frozen=True)
class _Declared:
    """A column as the contract declares it, and what is to be said of it."""

    keys: dict[str, Any]
    remarks: tuple[str, ...] = ()
    file: tuple[str, str] | None = None


def draft_of(found: FoundTable, roles: Roles, product: str, not_sensitive: tuple[str, ...] = ()) -> Draft:
    """The contract of a table whose columns have these roles.

    Parameters
    ----------
    found
        The table.
    roles
        What each column is.
    product
        The product's name.
    not_sensitive
        Values of the sensitive column that may be known of a person.
    """
    assert roles.sensitive is not None, "asked for before"
    release = dt.date.fromisoformat(found.releases[-1])
    of = partial(
        _quasi_identifier,
        product=product,
        release=release,
        is_series=found.is_series,
    )
    declared, more = [of(one) for one in roles.quasi_identifiers], [of(one) for one in roles.more]
    sensitive = _sensitive(roles.sensitive, not_sensitive, product=product, has_several=roles.has_several)
    lines = [
        f"# yaml-language-server: $schema={SCHEMA}",
        "# A contract, drafted by republish init from what is in the table. It says what is published, and",
        f"# what is promised of it. Read each line. Where a comment begins with {GUESS}, it was guessed.",
        *(comment(one) for one in found.remarks),
        f"product: {product}",
        "series: v1                         # a chain of releases that keep one promise together",
        *_source(found, roles),
        *_releases(found),
        *_identifier(roles),
        *_several_rows(found, roles),
        "# What others may know of a person, from a register or a neighbour. Published as intervals.",
        "#   domain  every value there can be: make it as wide as it can be, not as it is here",
        "quasi_identifiers:",
        *(line for one in declared for line in _listed(one)),
        *_proposed(more),
        "# What nobody may learn of a person.",
        *_remarks(sensitive.remarks),
        f"sensitive: {flow(sensitive.keys)}",
        *promise_lines(roles.sensitive, not_sensitive, roles, found.heights, found.places(roles.sensitive)),
        *_left_out(roles),
    ]
    files = dict(one.file for one in (*declared, *more, sensitive) if one.file)
    return Draft(
        "\n".join(lines) + "\n",
        files,
        tuple(_said(roles)),
        sum(line.lstrip().startswith(f"# {GUESS}") for line in lines),
    )


def with_faults(draft: Draft, faults: Iterable[tuple[str, str]]) -> Draft:
    """A draft with a comment on each fault that it still has: by key, and why."""
    said = "".join(f"{comment(f'{GUESS} {key}: {why}')}\n" for key, why in faults)
    return replace(draft, text=said + draft.text, guesses=draft.guesses + len([*said.splitlines()]))


def product_of(name: str) -> str:
    """A name of a product, of any name.

    Examples
    --------
    >>> product_of("Patients 2024 (final)"), product_of("2024")
    ('patients_2024_final', 'people')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
    return plain if re.match("[a-z]", plain) else "people"


def without_what_cannot_be_read(roles: Roles, *, is_query: bool) -> Roles:
    """The roles without quasi-identifiers that a release would be refused for: with the reasons."""
    why = "is text that a query has to turn into numbers, dates or NULL"
    known = (*roles.quasi_identifiers, *roles.more)
    out = [(one, why) for one in known if is_query and (one.written is not None or one.no_values)]
    dropped = [column for column, _ in out]
    return replace(
        roles,
        quasi_identifiers=tuple(one for one in roles.quasi_identifiers if one not in dropped),
        more=tuple(one for one in roles.more if one not in dropped),
        left_out=(*roles.left_out, *out),
    )


def _source(found: FoundTable, roles: Roles) -> Iterator[str]:
    known = [*roles.quasi_identifiers, *roles.more, *roles.persons]
    used = [*known, *([roles.sensitive] if roles.sensitive else [])]
    common, single = common_written(used) if "path" in found.source else ({}, {})
    yield "source:"
    for key, value in {**found.source, **common}.items():
        yield f"  {key}: {flow(value)}"
        if key == "encoding" and value == "cp1252":
            yield f"  # {GUESS} the text is none in UTF-8: latin-1, or another encoding, may be the right one"
        if key == "final_newline":
            yield f"  # {GUESS} the last line of a file has no line end; is the file complete?"
        if key == "null_values":
            yield f"  # {GUESS} these words are taken for no value; leave out those that are values"
    if single:
        yield "  columns:"
        for name, keys in single.items():
            yield f"    {flow(name)}: {flow(keys)}"
    for one in used:
        if one.unsure:
            yield f"  # {GUESS} {comment(one.name)[2:]}: {one.unsure}"
    if found.sources:
        yield "sources:                           # what is written in another way, from which release on"
        yield from (f"  {release}: {flow(keys)}" for release, keys in found.sources.items())


def _releases(found: FoundTable) -> Iterator[str]:
    first = found.releases[0]
    if found.cron is None and found.is_series:
        yield f"releases: {{dates: [{', '.join(found.releases)}]}}"
        yield f"# {GUESS} the snapshots follow no schedule: write each new date at the end"
    elif found.cron is None:
        yield f"releases: {{first: {first}}}"
        more = flow({"first": dt.date.fromisoformat(first), "cron": "@quarterly"})
        yield f"# {GUESS} a single release. For a series, add a schedule: releases: {more}"
    else:
        yield f"releases: {{first: {first}, cron: {flow(found.cron)}}}"
        yield f"# {GUESS} the schedule that the {len(found.releases)} snapshots follow"


def _identifier(roles: Roles) -> Iterator[str]:
    names = [one.name for one in roles.persons]
    yield f"identifier: {flow(names if len(names) > 1 else names[0])}".ljust(34) + " # never published"
    if len(names) > 1:
        yield f"# {GUESS} no column has another value in each row, and these two together have: do they"
        yield "#   identify a person, in every snapshot the same?"
    for column in roles.persons:
        if column.numbers_rows:
            yield f"# {GUESS} it numbers the rows of the file. That will do for a single release: in a"
            yield "#   series, a person must have the same number in every snapshot"
        yield from _of_nobody(column, is_several=roles.has_several)


def _of_nobody(column: Column, *, is_several: bool) -> Iterator[str]:
    """What a release would be refused for: rows whose identifier is none, of a total say."""
    is_text = column.values.dtype == pl.String
    if not is_text and not column.is_whole:
        return
    values = (
        pl.concat([column.values, pl.Series(column.no_values, dtype=pl.String)]) if is_text else column.values
    )
    looks = forms_of_none(pl.lit(values), is_text=is_text, is_several=is_several)
    rows = pl.select(look.sum().alias(form) for form, look in looks.items()).row(0, named=True)
    found = {form: number for form, number in rows.items() if number}
    if found:
        yield f"# {GUESS} {sum(found.values()):,} rows of {as_data(column.name)} {SAYS}; each is refused:"
        yield from (f"#   {line}" for form in found for line in wrap(WAYS_OUT[form], 96))


def _several_rows(found: FoundTable, roles: Roles) -> Iterator[str]:
    identifier = roles.persons[0]
    if not roles.has_several:
        return
    # Of several snapshots, most rows repeat it because people stay.
    repeated = f"{identifier.rows - identifier.distinct:,} of {identifier.rows:,} rows repeat it"
    said = repeated if len(found.releases) == 1 else "rows of one snapshot repeat it"
    yield f"# {GUESS} {said}: visits, say. For one row of"
    yield "#   each person, take the last visit, say, and leave out the next lines"
    apart = "" if roles.row else ", told apart by all columns together"
    yield "rows: several".ljust(34) + f" # the identifier repeats: people have several{apart}"
    if roles.row is not None:
        yield f"row: {flow(roles.row.name)}".ljust(34) + " # tells a row from all others; never published"


def _quasi_identifier(column: Column, *, product: str, release: dt.date, is_series: bool) -> _Declared:
    if _is_flag(column):
        column = replace(column, kind="category", values=column.values.cast(pl.String))
    keys: dict[str, Any] = {"name": column.name, "kind": column.kind}
    remarks: list[str] = []
    file = None
    if column.kind == "number":
        is_age = has_word(column, AGE) and column.is_whole and _lie_in(column, AGES)
        domain = AGES if is_age else number_domain(column.values)
        keys["domain"] = list(domain)
        if not _are_shared(column):
            keys["min_width"] = width_of(domain)
        if "min_width" in keys and column.is_whole and (step := step_of(column.values, domain[0])) > 1:
            keys["min_width"] = max(2, -(-keys["min_width"] // step)) * step
            remarks.append(f"{GUESS} if all are always multiples of {step}, step: {step} helps estimates")
    elif column.kind == "date":
        first, last = date_domain(column.values, release)
        if has_word(column, BORN) and last.year > release.year:
            if is_series:
                remarks.append(f"{GUESS} it ends after the last snapshot, for those who are born later")
            else:
                last = dt.date(max(release.year, most_of(column.values).year), 12, 31)
        days = (last - first).days
        keys |= {"domain": [first, last], "min_width": 365 if days > 20 * 365 else 31 if days > 730 else 7}
    else:
        own, said, file = _category(column, product)
        keys |= own
        remarks += said
    if column.missing:
        keys["missing"] = "publish"
        remarks.append(
            f"{column.missing:,} of {column.rows:,} rows have no value: leave_out, or refuse, else"
        )
    return _Declared(keys, (*remarks, *_explained(column)), file)


def _category(column: Column, product: str) -> tuple[dict[str, Any], list[str], tuple[str, str] | None]:
    """What a contract says of a category, what is to be said of it, and the file of its labels."""
    keys, remarks, file = dict[str, Any](), list[str](), None
    labels, rare = labels_of(column)
    if rare:
        remarks.append(
            f"{GUESS} {rare} of {len(labels):,} labels are those of fewer than {SEVERAL} rows, and labels"
            " are published. Better list all that there are in your country, say"
        )
    forms = pl.DataFrame({"label": labels}).select(normal_form(pl.col("label")))
    if spellings := len(labels) - forms.n_unique():
        remarks.append(
            f"{GUESS} {spellings:,} of the labels differ from another by spaces, capital letters or what"
            " nobody sees alone. If they mean one thing, correct them in the source"
        )
    if len(labels) <= LISTED:
        keys["order"] = labels
        if not rare and len(labels) > 2:
            remarks.append(f"{GUESS} put labels that are alike side by side")
    else:
        name = keys["hierarchy"] = _file_of(column, product)
        file = (name, _hierarchy(labels, is_code=column.is_code))
        remarks.append(f"{len(labels):,} labels; put groups between them and the last column of the file")
    return keys, remarks, file


def _explained(column: Column) -> Iterator[str]:
    for word, number in column.bounds.items():
        rows = f"{column.beyond[word]:,} rows"
        yield f"{GUESS} {word}, {rows}, is a bound, and no gap: read as {number}; or make it a category"
    taken = [one for one in column.no_values if not is_no_value(one)]
    if taken:
        words = ", ".join(taken)
        yield f"{GUESS} taken for no value: {words}. Of a bound (> 89), write its number as bounds"
    codes = labels_of(column)[0] if column.kind == "category" else ()
    yield from explained(column.labels, column.reasons, codes)
    if found := no_answers(column.values, column.labels) if column.labels else {}:
        line = flow({"null_values": [*found]})[1:-1]
        yield f"{GUESS} labels of {', '.join(found)} say that nothing is known: {line}, under source, say"


def _is_flag(column: Column) -> bool:
    """Whether a column has two digits, 0 and 1 or 1 and 2, say: no interval says anything of it."""
    return column.kind == "number" and column.is_whole and column.distinct == 2 and _lie_in(column, DIGITS)


def _are_shared(column: Column) -> bool:
    """Whether its values are digits, each of many rows: an end of an interval is nobody's own."""
    if not (column.is_whole and _lie_in(column, DIGITS)):
        return False
    rows = column.values.value_counts()["count"]
    return bool((rows >= max(SEVERAL, SHARED * len(column.values))).all())


def _lie_in(column: Column, domain: tuple[int, int]) -> bool:
    return bool(column.values.is_between(*domain).all())


def _hierarchy(labels: list[str], *, is_code: bool) -> str:
    """A file of paths: codes below their first letters, other labels below one root."""
    lengths = [3, 1] if is_code else []
    return _lines([label, *(f"{label[:length]}…" for length in lengths), "all"] for label in labels)


def _lines(rows: Iterable[list[str]]) -> str:
    text = StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _file_of(column: Column, product: str) -> str:
    return f"{product}.{product_of(column.name)}.csv"


def _sensitive(
    column: Column, not_sensitive: tuple[str, ...], *, product: str, has_several: bool
) -> _Declared:
    keys: dict[str, Any] = {"name": column.name}
    remarks = []
    file = None
    if column.kind == "category" and (found := no_answers(column.values, column.labels)):
        said = describe_no_answers(found, column.labels, column.rows, "rows")
        remarks.append(f"{GUESS} {said}")
    if not has_word(column, MUST_NOT_BE_LEARNT):
        remarks.append(f"{GUESS} nothing in its name says that this is the column")
    if is_in_bins(column):
        keys |= {"kind": "number", "bins": bins_of(column.values)}
        counted = "rows" if has_several else "people"
        remarks.append(f"{GUESS} bins of about as many {counted} each, of which the bin is published")
    elif column.kind == "category" and column.distinct > LISTED and not twins(column.values):
        name = keys["values"] = _file_of(column, product)
        labels, _ = labels_of(column)
        file = (name, _lines([label] for label in labels))
        remarks.append(
            f"{GUESS} {name} has the {len(labels):,} values that are here. Put all that there can be into it,"
            " the whole list of codes, say: one that is added when somebody first has it says who has it"
        )
    elif column.is_whole:  # which are read alike, whether a program wrote them as 1 or as 1.0
        keys["values"] = sorted({*column.values, *map(int, not_sensitive)})
        remarks.append(f"{GUESS} these values are here. List all that there can be")
    elif column.kind == "category" and column.labels:
        keys["values"] = [*dict.fromkeys((*labels_of(column)[0], *not_sensitive))]
    remarks += _explained(column)
    if not_sensitive:
        keys["not_sensitive"] = [int(one) if column.is_whole else one for one in not_sensitive]
    if column.missing:
        keys["missing"] = "leave_out"
        without = f"{column.missing:,} of {column.rows:,} rows have no value"
        remarks.append(f"{GUESS} {without}: these {'rows' if has_several else 'people'} are left out")
    return _Declared(keys, tuple(remarks), file)


def _listed(declared: _Declared) -> Iterator[str]:
    yield from (f"  {line}" for line in _remarks(declared.remarks))
    yield f"  - {flow(declared.keys)}"


def _remarks(remarks: tuple[str, ...]) -> list[str]:
    return [comment(one) for one in remarks]


def _proposed(more: list[_Declared]) -> Iterator[str]:
    if more:
        yield f"  # {GUESS} these may be known as well; each one more makes all intervals wider"
    for one in more:
        yield f"  {comment(f'- {flow(one.keys)}')}"


def _left_out(roles: Roles) -> Iterator[str]:
    if roles.left_out:
        yield "# Left out, and so never published:"
    for column, why in roles.left_out:
        yield comment(f"  {column.name or UNNAMED}: {why}")


def _said(roles: Roles) -> Iterator[str]:
    """What the draft says of each column: names of columns and no value."""
    assert roles.sensitive is not None
    kinds = ((one.name, "category" if _is_flag(one) else one.kind) for one in roles.quasi_identifiers)
    known = ", ".join(f"{name} ({kind})" for name, kind in kinds) or "nothing"
    yield f"  identifies a person     {' and '.join(one.name for one in roles.persons)}"
    if roles.has_several:
        yield f"  tells rows apart        {roles.row.name if roles.row else 'all columns together'}"
    yield f"  others may know         {known}"
    yield f"  nobody may learn        {roles.sensitive.name}"
    for column, why in roles.left_out:
        yield f"  left out                {column.name or UNNAMED}: {why}"
