"""Languages: English is what the code has, and each other one a file, `<name>.po`.

Numbers and dates are written as the language writes them (CLDR, by Babel).
"""

from __future__ import annotations

import datetime as dt
import functools
import gettext
import io
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from republish.anonymize.text import Text

ENGLISH = "en"
CATALOGUES = Path(__file__).parent
LANGUAGES = (ENGLISH, *sorted(file.stem for file in CATALOGUES.glob("*.po")))
"""Of which there is a catalogue, and English."""
NONE = "\u2013"


@dataclass(frozen=True, eq=False)
class Language:
    """How a page speaks."""

    name: str = ENGLISH
    texts: gettext.NullTranslations = field(default_factory=gettext.NullTranslations)
    separators: Mapping[int, str] = field(default_factory=dict)
    """What `,` between thousands and `.` before decimals are written as."""

    @classmethod
    @functools.cache
    def of(cls, name: str) -> Language:
        """The language of a catalogue, `de` say, or English."""
        if name == ENGLISH:
            return cls()
        # An English report needs none of this.
        from babel.messages.mofile import write_mo  # noqa: PLC0415
        from babel.messages.pofile import read_po  # noqa: PLC0415
        from babel.numbers import get_decimal_symbol, get_group_symbol  # noqa: PLC0415

        compiled = io.BytesIO()
        with (CATALOGUES / f"{name}.po").open("rb") as file:
            write_mo(compiled, read_po(file))
        compiled.seek(0)
        separators = {ord(","): get_group_symbol(name), ord("."): get_decimal_symbol(name)}
        return cls(name, gettext.GNUTranslations(compiled), separators)

    def say(self, text: str, /, **values: Any) -> str:
        """A text in this language; one that the catalogue has not (a column's name, say) stays as it is.

        Parameters
        ----------
        text
            Its English words, or a `Text` that brings its own values.
        values
            What is filled in. Numbers are written as the language writes them.
        """
        words, filled = (text.words, text.values) if isinstance(text, Text) else (text, values)
        said = self.texts.gettext(words) if words else words
        return _Filled(self).vformat(said, (), filled) if filled else said

    def number(self, written: str) -> str:
        """A number that is written in English, with this language's separators."""
        return written.translate(self.separators)

    def figure(self, value: Any) -> str:
        """A number as a reader wants it, or a text in its place; a dash where there is none."""
        if value is None:
            return NONE
        if isinstance(value, float) and not value.is_integer():
            return self.number(f"{value:,.0f}" if abs(value) >= 1_000 else plain(value))
        return self.number(f"{int(value):,}") if isinstance(value, int | float) else self.say(value)

    def percent(self, share: float | None) -> str:
        """A share as a percentage; a dash where there is none."""
        return NONE if share is None else self.number(f"{100 * share:.1f} %")

    def points(self, share: float | None) -> str:
        """A difference of shares, in percentage points; a dash where there is none."""
        return NONE if share is None else self.number(f"{100 * share:.1f}")

    def filled(self, text: str, counts: Sequence[int | float | str]) -> str:
        """A text with its figures in the places of `{}`."""
        return self.say(text).format(*map(self.figure, counts))

    def day(self, date: str) -> str:
        """A date (YYYY-MM-DD) as the language writes it; in English as it is."""
        if self.name == ENGLISH:
            return date
        from babel.dates import format_date  # noqa: PLC0415

        written: str = format_date(dt.date.fromisoformat(date), locale=self.name)
        return written


def plain(value: float) -> str:
    """A number with four digits, and without a power of ten.

    Examples
    --------
    >>> plain(1e-09), plain(0.33333)
    ('0.000000001', '0.3333')
    """
    return f"{Decimal(f'{value:.4g}'):f}"


class _Filled(string.Formatter):
    """Fills in texts and numbers as a language writes them."""

    def __init__(self, language: Language):
        self.language = language

    def format_field(self, value: Any, how: str) -> str:
        if isinstance(value, str):
            return self.language.say(value) if isinstance(value, Text) else format(value, how)
        if isinstance(value, dt.date):
            return self.language.day(value.isoformat())
        written = format(value, how)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return self.language.number(written) if is_number else written
