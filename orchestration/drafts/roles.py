"""What a column probably is to a contract: guessed from its name and its values, and said to be a guess."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from republish.anonymize.columns import least_of, most_of
from republish.orchestration.drafts.columns import FEW_LABELS, NEARLY_ALL, Column
from republish.orchestration.drafts.domains import is_too_large
from republish.orchestration.snapshots.determined import determines
from republish.orchestration.snapshots.moved import lasts

UUID = r"^\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?$"
MOST_ROWS = 100
"""Rows of a person, on average, up to which numbers that rows repeat are those of persons, not of places."""
DENSE = 3
"""Whole numbers that are each there once, among so many times as many, number something."""
FEWEST_VALUES = 4
"""A column with fewer values is hardly what nobody may learn: two values protect nobody."""
MOST_QUASI_IDENTIFIERS = 8
"""More of them make every interval wide: the others are proposed as comments."""
IDENTIFYING = ("number", "category", "free text")
"""What identifies: a code is a category to somebody who sees it in several files."""
LONG = 5
"""Letters of a word that is found in compounds, too."""
RESERVED = {"release", "group_id"}
"""Names of columns that a release has itself."""
OF_A_PERSON = """
patient person people member insured customer client student pupil employee staff user resident citizen
subject participant household versicherte versicherten mitglied kunde schueler schüler mitarbeiter
einwohner pers pat emp
""".split()  # noqa: SIM905
OF_AN_IDENTIFIER = """
id ids nr no num number key code pid mrn uuid guid identifier pseudonym kennung nummer schluessel
schlüssel index ssn record
""".split()  # noqa: SIM905
OF_A_GROUP = """
household hh hhid hhold family dwelling haushalt haushaltsnr familie wohnung foyer menage ménage logement
hogar famiglia famille serial cluster psu village site siteid centre center school class schule klasse firm
establishment betrieb plot
""".split()  # noqa: SIM905
NAMES_SOMEBODY = """
surname lastname firstname forename vorname nachname familienname fullname email mail phone telephone
telefon tel mobile fax handy iban bic street strasse straße address adresse anschrift passport url ip
login username
""".split()  # noqa: SIM905
FREE_TEXT = """
notes comment remark bemerkung kommentar freitext
""".split()  # noqa: SIM905
A_WEIGHT = """
weight weights wt wgt wgts pweight pweights hhweight hhwt perwt fweight aweight gewicht gewichtung
hochrechnungsfaktor ponderation poids peso pesos repwt
""".split()  # noqa: SIM905
OR_OF_A_BODY = {"weight", "weights", "wt", "wgt", "gewicht", "poids", "peso"}
"""Those of them that may as well be what somebody weighs."""
OF_A_BODY = (2, 400)
"""Between which the median of what people weigh is, in kilograms or pounds."""
OF_EUROPE = re.compile(r"(rb|db|pb)0[4-9]\d|w[gt]h?t?\d*|rep_?wg?ts?_?\d+", re.IGNORECASE)
"""Names of weights in the surveys of the European Union, and of replicate weights."""
MAY_BE_KNOWN = """
age alter birth born dob geburt geburtsdatum geboren sex gender geschlecht zip zipcode plz postcode postal
city town ort region state county country land bundesland district kreis bezirk nation nationality marital
familienstand education school schule occupation job beruf profession race ethnicity title department
abteilung ward station year jahr height groesse größe hired admitted admission entry
""".split()  # noqa: SIM905
MUST_NOT_BE_LEARNT = """
diagnosis diagnoses diagnose disease illness icd condition krankheit hiv result befund salary income wage
pay gehalt einkommen lohn religion party crime offence drug medication medikament therapy treatment
sensitive score debt credit cause mark grade note verdict
""".split()  # noqa: SIM905

A_YEAR = r"(^|\D)(19|20)\d\d(\D|$)"
"""What a time has: 2024-W05, Q1 2024, March 2024."""
IN_A_FAMILY = re.compile("rac|ethni")
"""Names of what lasts of a person, and is the same of those whom they live with."""


@dataclass(frozen=True)
class Roles:
    """What each column of a table is taken for."""

    persons: tuple[Column, ...]
    """The columns that identify a person, one or two: a household and a line of it."""
    quasi_identifiers: tuple[Column, ...]
    more: tuple[Column, ...]
    """Further ones that may be known, beyond `MOST_QUASI_IDENTIFIERS`."""
    sensitive: Column | None
    left_out: tuple[tuple[Column, str], ...]
    """Those that are not published, and why."""
    row: Column | None = None
    """Of people with several rows, the column that tells a row from all others, if there is one."""
    has_several: bool = False
    """Whether rows repeat the identifier."""


def words_in(name: str) -> list[str]:
    """The words of a column's name, in small letters.

    Examples
    --------
    >>> words_in("patientID"), words_in("date_of-birth"), words_in("PLZ2")
    (['patient', 'id'], ['date', 'of', 'birth'], ['plz'])
    """
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", apart)]


def has_word(column: Column, words: Sequence[str]) -> bool:
    """Whether a column's name has one of these words; long ones also as a part of a word (Hauptdiagnose)."""
    found = words_in(column.name)
    return any(word in found or (len(word) >= LONG and word in "".join(found)) for word in words)


def names_somebody(column: Column) -> bool:
    """Whether a column's name says that it has names, addresses or numbers of persons."""
    words = words_in(column.name)
    others = {*OF_A_PERSON, "full", "first", "last", "family"}
    is_name = "name" in words and all(word == "name" or word in others for word in words)
    return is_name or has_word(column, NAMES_SOMEBODY)


def _is_numbering(column: Column, unique: Sequence[str]) -> bool:
    """Whether each row of a file has its own whole number or code, all rows or some numbered by it."""
    if column.name not in unique or column.distinct <= FEW_LABELS:
        return False
    if column.kind == "category":
        return True  # it repeats from file to file alone
    if column.kind != "number" or not column.is_whole:
        return False
    is_dense = most_of(column.values) - least_of(column.values) < DENSE * column.distinct
    return bool(is_dense) or has_word(column, OF_AN_IDENTIFIER)


def are_uuids(column: Column) -> bool:
    """Whether all values of a column are UUIDs, which programs give."""
    is_text = column.values.dtype == pl.String and not column.values.is_empty()
    return is_text and bool(column.values.str.contains(UUID).all())


def likely_identifier(
    columns: Sequence[Column], unique: Sequence[str], *, is_series: bool = True
) -> Column | None:
    """The column that probably identifies a person; `unique` are those with another value in each row.

    A column that is called after persons is it, even if rows repeat it: one that numbers visits is not. So is
    one of UUIDs that rows repeat. One that numbers the rows of a file, and is not called after identifiers,
    says nothing of a person: it is the last choice, and none in a series.
    """
    fit = [one for one in columns if one.kind in IDENTIFYING and not one.missing]
    rows = [one for one in fit if one.numbers_rows and not has_word(one, [*OF_A_PERSON, *OF_AN_IDENTIFIER])]
    fit = [one for one in fit if one not in rows and one.name]
    of_persons = [one for one in fit if has_word(one, OF_A_PERSON) and has_word(one, OF_AN_IDENTIFIER)]
    persons = [one for one in fit if has_word(one, OF_A_PERSON) and one.distinct > FEW_LABELS]
    different = [one for one in fit if one.name in unique and (one.kind != "number" or one.is_whole)]
    called_so = [one for one in different if has_word(one, OF_AN_IDENTIFIER)]
    repeated = [
        one
        for one in fit
        if one.name not in unique and one.rows <= MOST_ROWS * one.distinct > FEW_LABELS and are_uuids(one)
    ]
    others = [one for one in different if not names_somebody(one)]
    for found in (of_persons, persons, repeated, called_so, others):
        best = [one for one in found if one in different] or found
        if best := [one for one in best if not names_somebody(one) or one in called_so]:
            return best[0]
    again = [one for one in fit if one.name not in unique and has_word(one, OF_AN_IDENTIFIER)]
    if rows and (person := repeated_person(again, columns)) is not None:
        return person
    return next((one for one in rows if one.name and not is_series), None)


def likely_pair(
    columns: Sequence[Column],
    likely: Column | None,
    unique: Sequence[str],
    are_unique: Callable[[Sequence[str]], bool],
) -> tuple[Column, Column] | None:
    """Two columns that probably identify a person together, where no single one does.

    One of them is called after a group (a household, a site), and the other one numbers people in it. Where
    no column is likely by itself, any two will do, one of which is called after persons, lines or numbers.

    Parameters
    ----------
    likely
        What `likely_identifier` has found. Rows repeat it.
    unique
        The names of columns that have another value in each row.
    are_unique
        Whether columns of these names have other values in each row of each file.
    """
    fit = [
        one
        for one in columns
        if one.kind in IDENTIFYING
        and not one.missing
        and one.distinct > 1
        and one.name not in unique
        and (one.kind != "number" or one.is_whole)
        and not _is_a_time(one)
        and not has_word(one, [*FREE_TEXT, *MUST_NOT_BE_LEARNT])
    ]
    groups = [one for one in fit if {*OF_A_GROUP} & {*words_in(one.name)}]
    of_persons = [one for one in fit if has_word(one, OF_A_PERSON) and has_word(one, OF_AN_IDENTIFIER)]
    within = [one for one in fit if one not in groups and (one not in of_persons or one is not likely)]
    pairs = [(group, one) for group in groups for one in sorted(within, key=_looks_like_a_line)]
    if likely is None:
        # What nearly identifies by itself is an identifier with faults, which any other column makes unique.
        repeats = [one for one in fit if one.distinct * 2 <= one.rows]
        called_so = [one for one in repeats if _looks_like_a_line(one) == 0]
        pairs += [pair for pair in combinations(repeats, 2) if {*called_so} & {*pair}]
    return next((pair for pair in pairs if are_unique([one.name for one in pair])), None)


def repeated_person(chosen: Sequence[Column], columns: Sequence[Column]) -> Column | None:
    """The one of some columns that has a person's rows each time: what lasts of a person is the same in them.

    A column beside it, a period say, tells rows from each other, and no people. None if there is none such.
    """
    lasting = [one for one in columns if lasts(one.name) and not one.missing and not one.is_constant]
    lasting = [one for one in lasting if not IN_A_FAMILY.search(one.name.lower())]
    for person in (one for one in chosen if not one.missing and one.distinct > FEW_LABELS):
        others = [one.values for one in lasting if one is not person and one.rows == person.rows]
        known = [one.alias(f"{at}") for at, one in enumerate(others)]
        rows = pl.DataFrame([person.values.alias("who"), *known]).filter(pl.len().over("who") > 1)
        if not others or rows.height * 2 < person.rows:
            continue
        same = rows.select((pl.exclude("who").n_unique().over("who") == 1).mean())
        if min(same.row(0)) >= NEARLY_ALL:
            return person
    return None


def _is_a_time(column: Column) -> bool:
    """Whether all values have a year in them."""
    return bool(column.values.cast(pl.String).str.contains(A_YEAR).all())


def _looks_like_a_line(column: Column) -> int:
    """0 for a column that is called after persons, lines or numbers, else 1: for sorting."""
    return (
        0 if has_word(column, [*OF_A_PERSON, *OF_AN_IDENTIFIER, "line", "pernum", "position", "lfd"]) else 1
    )


def likely_sensitive(columns: Sequence[Column]) -> Column | None:
    """The column of which nobody may learn a person's value, probably."""
    fit = [
        one
        for one in columns
        if one.kind in ("category", "number")
        and one.distinct >= FEWEST_VALUES
        and not one.is_constant
        and not one.numbers_rows
        and one.missing * 2 < one.rows
        and not has_word(one, FREE_TEXT)
        and not is_weight(one)
        and not (one.kind == "number" and is_too_large(one.values))
    ]
    fit.sort(key=lambda one: one.missing > 0)
    called_so = [one for word in MUST_NOT_BE_LEARNT for one in fit if has_word(one, [word])]
    labels = [one for one in fit if one.kind == "category" and not has_word(one, MAY_BE_KNOWN)]
    numbers = [one for one in fit if not has_word(one, MAY_BE_KNOWN)]
    ranked = [*called_so, *reversed(labels), *reversed(numbers)]
    return next((one for one in ranked if not is_determined(one, columns)), next(iter(ranked), None))


def is_weight(column: Column) -> bool:
    """Whether a column says for how many people a row stands: by its name, or else its values, too."""
    if column.kind != "number":
        return False
    words = {*A_WEIGHT} & {*words_in(column.name)}
    if words - OR_OF_A_BODY:
        return True
    if OF_EUROPE.fullmatch(column.name) and column.name.lower() not in OR_OF_A_BODY:
        return True
    middle, (low, high) = column.values.cast(pl.Float64).median(), OF_A_BODY
    return bool(words) and not (isinstance(middle, float) and low <= middle <= high)


def is_determined(column: Column, others: Sequence[Column]) -> bool:
    """Whether another column of fewer values says what a column's is: a town, its stratum.

    Whoever knows the other one then knows this one of everybody, whatever is published.
    """
    whole = [one for one in others if one is not column and not one.missing and not one.is_constant]
    return not column.missing and any(
        determines(one.values, column.values) for one in whole if len(one.values) == len(column.values)
    )


def roles_of(
    columns: Sequence[Column],
    persons: Sequence[Column],
    sensitive: Column | None,
    unique: Sequence[str],
    *,
    has_several: bool = False,
) -> Roles:
    """The roles of all columns beside these; `unique` are those with another value in each row.

    `persons` identify a person, one or two; `has_several` says whether rows repeat them.
    """
    different = [one for one in columns if one.name in unique and one.kind in IDENTIFYING]
    whole = [one for one in different if (one.kind != "number" or one.is_whole) and one is not sensitive]
    whole = [one for one in whole if not one.numbers_rows]  # another row has its number in the next snapshot
    row = whole[0] if has_several and whole else None
    left_out: list[tuple[Column, str]] = []
    known: list[Column] = []
    for one in columns:
        if one in (*persons, sensitive, row):
            continue
        if (why := _not_published(one, unique) or _goes_with(one, sensitive)) is None:
            known.append(one)
        else:
            left_out.append((one, why))
    # Those that are called so come first; the others follow as they stand.
    ranked = sorted(known, key=lambda one: not has_word(one, MAY_BE_KNOWN))
    chosen = ranked[:MOST_QUASI_IDENTIFIERS]
    return Roles(
        tuple(persons),
        tuple(one for one in known if one in chosen),
        tuple(one for one in known if one not in chosen),
        sensitive,
        tuple(left_out),
        row,
        has_several,
    )


def _goes_with(column: Column, sensitive: Column | None) -> str | None:
    """Why a column is no quasi-identifier beside a sensitive one; None if it may be one."""
    if sensitive is None or column.missing or sensitive.missing or column.rows != sensitive.rows:
        return None
    if determines(column.values, sensitive.values):
        return f"says what {sensitive.name} is, of everybody: is that what nobody may learn?"
    if determines(sensitive.values, column.values):
        return f"each value of {sensitive.name} has one of it, so that it rules out what groups leave open"
    return None


def _not_published(column: Column, unique: Sequence[str]) -> str | None:
    """Why a column is no quasi-identifier; None if it may be one."""
    if column.name in RESERVED:
        return "has a name that releases use themselves: give it another one in the source"
    by_name = (
        (has_word(column, FREE_TEXT), "free text, by its name"),
        (
            is_weight(column) and not is_too_large(column.values),
            "a weight, by its name: estimates of a release count people, and weigh nobody",
        ),
        (names_somebody(column), "names, addresses or numbers of persons: these are never published"),
    )
    if said := next((why for is_so, why in by_name if is_so), None):
        return said
    if (column.distinct < 2 or column.is_constant) and column.kind not in ("nothing", "other"):
        return "has one value alone" + (" in each snapshot" if column.distinct > 1 else "")
    if has_word(column, MUST_NOT_BE_LEARNT):
        return "looks as if nobody may learn it, either: sensitive may be a list of columns"
    kinds = {
        "free text": "free text, or a value of nearly each person's own",
        "time": "moments, and not dates: if others may know them, give days, or the zone whose midnights they"
        " are (source.zone)",
        "nothing": "has no values",
        "other": "of a type that is not read",
        "too large": "numbers that are too large (2^53 and more): give them in a larger unit in the source",
    }
    numbering = "has another value in each row, as identifiers have"
    if column.numbers_rows:
        numbering = "numbers the rows of each file, and says nothing of a person"
    is_beyond = column.kind == "number" and is_too_large(column.values)
    kind = "too large" if is_beyond else column.kind
    return numbering if _is_numbering(column, unique) else kinds.get(kind)
