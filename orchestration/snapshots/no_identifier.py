"""Identifiers that are none: words for nobody, stand-in numbers, and numbers that a spreadsheet rounded.

Several people who share one are published as one person, and whoever has it next is taken for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import polars as pl

from republish.anonymize.columns import IDENTIFIER, entries, most_of
from republish.anonymize.contract import Table
from republish.anonymize.errors import as_data
from republish.anonymize.people.rows import has_several_rows
from republish.orchestration.snapshots.no_answer import WORDS, plain_words

NOBODY = """
na|n a|nan|nil|null|none|k a|nobody|no id|anonymous|anonymised|anonymized|anonym|anonyme|anonimo
|anonimizado|anoniem|masked|redacted|suppressed|confidential|vertraulich|blank|empty|leer|keine|keiner|aucun
|aucune|ninguno|ninguna|nessuno|nessuna|nenhum|nenhuma|geen|not assigned|unassigned|to be assigned|tbd|xxx
|xxxx|xxxxx|xxxxxx|x|n n|nn|no name|temp|temporary|dummy|test|total|totals|subtotal|sum|all|overall|gesamt
|insgesamt|summe|alle|totaal|totale|totaux|suma|somme|ensemble
""".replace("\n", "").split("|")
"""Words for nobody, in small letters and without accents, beside those for no answer."""
SHORT = 3
"""Letters of a word that may be somebody's initials, where others have as many."""
SAME_DIGIT = "|".join(f"{digit}{{3,}}" for digit in range(10))
STAND_IN = rf"^(?:(?:0|-1)(?:\.0+)?|\D{{0,9}}(?:{SAME_DIGIT})(?:\.0+)?)$"
"""0, -1, 999, P0000: a number that fills a field."""
SCIENTIFIC = r"^[+-]?\d+(?:[.,]\d+)?[eEdD][+-]\d+$|^[+-]?\d[.,]\d+[eE]\d+$"
"""1.23E+05, 1,23E+05, 1e+05, 1.23E5; not 12E5, which may be a code."""
LONG, CUT = r"^\d{16,}$", r"^\d{15}0+$"
"""A number of more digits than a spreadsheet keeps, and one that it has cut."""
FEWEST_CUT, FEWEST_LIKE, FEWEST_ROWS, TIMES_AS_MANY = 20, 20, 5, 5
"""Numbers that all have to be cut; identifiers beside a stand-in; its rows, and how many times those of
anybody else, where people have several."""
MANY_ROWS, TIMES_ADVISED = 20, 10
"""The same, from which somebody's rows deserve a question whatever the identifier."""
LEAVE_OUT = "leave these rows out in the source, or give each person an identifier of their own"
SAYS = "have an identifier that is none"
WAYS_OUT = {
    "words": f"words that say that nobody is meant (unknown, n/a, total), or blanks: {LEAVE_OUT}",
    "scientific": "numbers as spreadsheets shorten them (1.23E+05), so that several people have one: have the"
    " column formatted as text there, and exported once more",
    "cut": "numbers of more than 15 digits that all end in 0, as spreadsheets cut them, so that several"
    " people have one: have the column exported as text; if they are right, put a letter before each",
    "stand-in": f"a number that stands in for nobody (as 0, -1, 999), unlike all others: {LEAVE_OUT}; if it"
    " is a person's, write it otherwise",
}
"""The forms of what is none, and what to do about each."""


def forms_of_none(values: pl.Expr, *, is_text: bool, is_several: bool) -> dict[str, pl.Expr]:
    """Which identifiers are none, by their form (`WAYS_OUT`); null where there is no identifier.

    Parameters
    ----------
    values
        Text or whole numbers, all of a snapshot or of a shard.
    is_several
        Whether people may have several rows.

    Examples
    --------
    >>> people = pl.Series(["P1", "Unknown", "1.23E+05", " "])
    >>> found = forms_of_none(pl.lit(people), is_text=True, is_several=False)
    >>> pl.select(found["words"] | found["scientific"]).to_series().to_list()
    [False, True, True, True]
    """
    text = values.cast(pl.String)
    looks: dict[str, Callable[[pl.Series], pl.Series]] = {
        "cut": _are_cut,
        "stand-in": partial(_stand_in, is_several=is_several),
    }
    if is_text:
        looks = {"words": _are_words, "scientific": _are_shortened} | looks
    return {form: text.map_batches(look, return_dtype=pl.Boolean) for form, look in looks.items()}


def _are_shortened(text: pl.Series) -> pl.Series:
    return text.str.contains(SCIENTIFIC)


def _are_cut(text: pl.Series) -> pl.Series:
    """Which are cut, if all long ones are."""
    is_cut = text.str.contains(CUT)
    are_many = is_cut.sum() >= FEWEST_CUT
    return is_cut & (are_many and is_cut.sum() == text.str.contains(LONG).sum())


def _stand_in(text: pl.Series, *, is_several: bool) -> pl.Series:
    """Which are numbers that fill a field, and like no other identifier."""
    stands_in = text.str.contains(STAND_IN)
    if not stands_in.any():
        return stands_in
    fillers, others = text.filter(stands_in).unique(), text.filter(~stands_in)
    # Nothing else looks like it: no other identifier has as many characters.
    is_alone = ~fillers.str.len_chars().is_in(others.str.len_chars().unique().implode())
    is_alone &= len(others) >= FEWEST_LIKE
    if is_several:
        rows = text.filter(stands_in).value_counts(name="rows")
        most = most_of(others.unique_counts()) or 1
        many = rows.filter(pl.col("rows") >= FEWEST_ROWS, pl.col("rows") > TIMES_AS_MANY * most)
        is_alone |= fillers.is_in(many[text.name].implode())
    return text.is_in(fillers.filter(is_alone).implode())


def _are_words(text: pl.Series) -> pl.Series:
    """Which are words for nobody, or have neither a letter nor a digit."""
    lettered = text.filter(~text.str.contains("[0-9]")).unique()  # few: words take long
    words, size = pl.select(plain_words(pl.lit(lettered))).to_series(), lettered.str.len_chars()
    is_word = words.is_in(["", *WORDS, *NOBODY])
    may_be_initials = (size <= SHORT) & (words != "") & size.is_in(size.filter(~is_word).implode())
    return text.is_in(lettered.filter(is_word & ~may_be_initials).implode())


def ways_out(forms: Sequence[str]) -> str:
    """The forms that were found, each with what to do about it."""
    return "; ".join(WAYS_OUT[form] for form in forms)


def shared_by_many(identifiers: pl.Series) -> int:
    """How many rows have the identifier that most have, if far more have it than any other one; else 0.

    Examples
    --------
    >>> shared_by_many(pl.Series([999] * 8 + [1, 2, 3])), shared_by_many(pl.Series([1, 1, 2, 2]))
    (8, 0)
    """
    most, others = _two_most(identifiers)
    return most if most >= FEWEST_ROWS and most > TIMES_AS_MANY * max(1, others) else 0


def _two_most(identifiers: pl.Series) -> tuple[int, int]:
    """The rows of the identifier that most have, and of the next one; 0 where there is none."""
    rows = identifiers.drop_nulls().alias("name").value_counts(name="rows")["rows"].top_k(2)
    most, others, *_ = [*rows.sort(descending=True), 0, 0]
    return most, others


def advice_on_many_rows(people: pl.DataFrame, schema: Table, counted: str) -> str | None:
    """A question about an identifier that has far more rows than any other; `people` are a snapshot's."""
    if not has_several_rows(schema):
        return None
    most, others = _two_most(entries(people, IDENTIFIER))
    if most < MANY_ROWS or most <= TIMES_ADVISED * max(1, others):
        return None
    return (
        f"{as_data(schema.identifier)}: one identifier has {most:,} of {people.height:,} {counted}, and no"
        f" other one more than {others:,}: does it stand in for several people? Then leave these rows out in"
        " the source"
    )
