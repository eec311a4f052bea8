"""One normal form of text: what is left of identifiers and values but for how they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container

import polars as pl

UNSEEN = r"[\p{Cc}\p{Cf}\x{34F}\x{115F}\x{1160}\x{3164}\x{FE00}-\x{FE0F}]"
"""Characters that nobody sees: control characters, zero-width ones, soft hyphens, fillers, selectors."""
NUMBER = r"^([+-]?)0*(\d+)(?:\.(\d*?)0*)?$"
"""A number: its sign, its whole part and its fraction, without zeros that change nothing."""
PLAIN = r"^(?:0|-?[1-9][0-9]*|[A-Za-z][!-~]*)$"
"""Text that is its own form, in small letters: a whole number, or ASCII without spaces after a letter."""

BETWEEN_PARTS = " ¦ "
"""Stands between the parts of an identifier that several columns make together."""

FORMS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "spaces around them": lambda text: text.str.strip_chars(),
    "leading zeros": lambda text: text.str.strip_chars().str.strip_chars_start("0"),
    "small and capital letters": lambda text: text.str.strip_chars().str.to_lowercase(),
    "a decimal point": lambda text: text.str.strip_chars().str.replace(r"\.0+$", ""),
    "letters, spaces and signs between the digits": lambda text: text.str.replace_all(r"\D", ""),
}
"""What a column of identifiers may have gained or lost, and what is left of each without it: one difference
at a time, to name it. `value_form` takes all of them away but the last, and others that nobody sees."""
SEVERAL = 5
"""A message may name a value only if this many people have it."""


def normal_form(text: pl.Expr) -> pl.Expr:
    """Text in small letters and Unicode's form NFKC, without what nobody sees, and with single spaces.

    Examples
    --------
    >>> pl.select(normal_form(pl.lit(" Flu\N{NO-BREAK SPACE} \N{SOFT HYPHEN}B"))).item()
    'flu b'
    """
    return text.map_batches(_normal_forms, is_elementwise=True)


def _normal_forms(text: pl.Series) -> pl.Series:
    if not text.str.contains(r"[^!-~]").any():  # plain ASCII without spaces, as most identifiers are
        return text.str.to_lowercase()
    plain = text.str.normalize("NFKC").str.replace_all(r"\s+", " ").str.replace_all(UNSEEN, "")
    return plain.str.replace_all(" +", " ").str.strip_chars(" ").str.to_lowercase().str.normalize("NFKC")


def value_form(text: pl.Expr) -> pl.Expr:
    """Text in its normal form, and one form of each number: `7`, `07` and `7.0` are one value.

    Examples
    --------
    >>> pl.select(value_form(pl.lit(pl.Series(["007", "7.0", "7.10", "F07"])))).to_series().to_list()
    ['7', '7', '7.1', 'f07']
    """
    form = normal_form(text)
    fraction = form.str.extract(NUMBER, 3).fill_null("")
    whole = form.str.replace(NUMBER, "${1}${2}").str.strip_prefix("+")
    number = pl.when(fraction == "").then(whole).otherwise(pl.concat_str(whole, pl.lit("."), fraction))
    return pl.when(form.str.contains(NUMBER)).then(number).otherwise(form)


def is_plainly_spelt(value: str) -> bool:
    r"""Whether a text has no space at an end, and no sign that nobody sees.

    Examples
    --------
    >>> [is_plainly_spelt(value) for value in ("Flu", "Flu ", "F\N{SOFT HYPHEN}lu", "Flu\r\nand gout")]
    [True, False, False, True]
    """
    spaced = pl.Series([value]).str.replace_all(r"\s", " ")  # a line end within a text is a space
    plain = spaced.str.replace_all(UNSEEN, "").str.strip_chars()
    return bool((plain == spaced).item())


def identifier_forms(identifiers: pl.Series) -> pl.Series:
    """One normal form of each identifier (`value_form`), as text; bytes as hexadecimal digits.

    Where all identifiers are plain, as in nearly all tables, their forms are found at a tenth of the cost.

    Examples
    --------
    >>> identifier_forms(pl.Series([7, 12])).to_list()
    ['7', '12']
    >>> identifier_forms(pl.Series(["P-007", "p-8 ", "007 ¦ A1"])).to_list()
    ['p-007', 'p-8', '7 ¦ a1']
    """
    if identifiers.dtype == pl.Binary:
        return identifiers.bin.encode("hex")
    text = identifiers.cast(pl.String)
    if identifiers.dtype.is_integer():
        return text
    if text.str.contains(PLAIN).all():
        return text.str.to_lowercase()
    if text.str.contains(BETWEEN_PARTS, literal=True).any():  # each part has its own form
        parts = text.str.split(BETWEEN_PARTS).list.eval(value_form(pl.element()))
        return parts.list.join(BETWEEN_PARTS)
    return pl.select(value_form(pl.lit(text))).to_series()


def twins(values: pl.Series) -> list[list[str]]:
    """Values that are written in another way and are one value: each group of them, sorted."""
    if values.dtype != pl.String:
        return []
    distinct = values.drop_nulls().unique().sort().alias("value")
    forms = identifier_forms(distinct).alias("form")
    if forms.n_unique() == len(distinct):
        return []
    groups = distinct.to_frame().group_by(forms, maintain_order=True).agg("value")
    return groups.filter(pl.col("value").list.len() > 1)["value"].to_list()


def describe_twins(group: Collection[str], named: Container[str]) -> str:
    """Name values that are one; signs that nobody sees are written as escapes.

    Values that are not `named` are counted: it has those declared or published, and those of `SEVERAL`
    people.

    Examples
    --------
    >>> describe_twins(["FLU", "flu"], {"flu"})
    "'flu' and a value of fewer than 5 people are one value in two spellings"
    """
    words = [ascii(value) for value in group if value in named]
    if hidden := len(group) - len(words):
        few = f"of fewer than {SEVERAL} people"
        words.append(f"a value {few}" if hidden == 1 else f"{hidden} values {few} each")
    return f"{' and '.join(words)} are one value in two spellings"


def spelled_in_two_ways(values: pl.Series, most: int) -> str:
    """How many values are written in several ways, and at most so many of them; empty if none is.

    Named are those of which `SEVERAL` people have each spelling, with signs that nobody sees as escapes.

    Examples
    --------
    >>> spelled_in_two_ways(pl.Series(["I10.90", "i10.90", "Flu"] * 5 + ["flu"]), 3)
    '2 values are spelled in two ways: I10.90 / i10.90'
    """
    groups, named = twins(values), of_several(values)
    if not groups:
        return ""
    shown = [
        " / ".join(value if f"'{value.strip()}'" == ascii(value) else ascii(value) for value in group)
        for group in groups
        if all(value in named for value in group)
    ]
    counted = "1 value is" if len(groups) == 1 else f"{len(groups):,} values are"
    return f"{counted} spelled in two ways" + (f": {', '.join(shown[:most])}" if shown else "")


def of_several(values: pl.Series) -> set[str]:
    """Values that at least `SEVERAL` people have: a message that names one is about nobody."""
    counts = values.alias("value").to_frame().group_by("value").len("people")
    return set(counts.filter(pl.col("people") >= SEVERAL)["value"])
