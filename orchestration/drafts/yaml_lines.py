"""Lines of YAML as contracts are read: whatever a name or a label has in it, it is text and no more."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from republish.anonymize.errors import as_data

GUESS = "?"
"""What a comment on something uncertain begins with."""
PLAIN = re.compile(r"[A-Za-z_ÄÖÜäöüß][\w./+-]*( [\w./+-]+)*")
WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
"""Words that some readers of YAML take for something else than text."""


def flow(value: Any) -> str:
    """A value on one line.

    Examples
    --------
    >>> flow({"name": "a: b", "order": ["no", "x y", "#1"], "domain": [0, 1.5]})
    '{name: "a: b", order: ["no", x y, "#1"], domain: [0, 1.5]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date | int | float):
        return str(value)
    return _text(str(value))


def comment(text: str) -> str:
    """A comment of one line, whatever is in the text."""
    return f"# {as_data(text)}"


def _text(text: str) -> str:
    is_date = re.fullmatch(r"\d{4}-\d{2}-\d{2}", text)
    if is_date or (PLAIN.fullmatch(text) and text.lower() not in WORDS):
        return text
    letters = (
        one
        if one.isprintable() and one not in '"\\'
        else f"\\U{ord(one):08x}"
        if one not in '"\\'
        else f"\\{one}"
        for one in text
    )
    return f'"{"".join(letters)}"'
