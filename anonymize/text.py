"""Texts that can be said in another language: English, with what is filled in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self


class Text(str):
    """An English text that remembers its words and what is filled in; a catalogue has other words for it.

    Everywhere else it is the English text itself, so that files and tables need not know of languages.

    Parameters
    ----------
    words
        A format with names. It is what a catalogue translates.
    values
        What is filled in: numbers, names, or texts that are translated themselves.

    Examples
    --------
    >>> Text("{people:,} people", people=4970)
    '4,970 people'
    """

    __slots__ = ("values", "words")
    words: str
    values: dict[str, Any]

    def __new__(cls, words: str, /, **values: Any) -> Self:  # noqa: D102 - the class says it
        text = super().__new__(cls, words.format(**values) if values else words)
        text.words, text.values = words, values
        return text

    @classmethod
    def joined(cls, texts: Iterable[str], between: str = " ") -> Text:
        """Several texts, one after the other.

        Examples
        --------
        >>> Text.joined(["One.", Text("{n} more.", n=2)])
        'One. 2 more.'
        """
        named = {f"text_{number}": text for number, text in enumerate(texts)}
        return cls(between.join(f"{{{name}}}" for name in named), **named)
