"""Numbers as a reader wants them, in reports and in the UI."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

NONE = "\u2013"


def figure(value: float | str | None) -> str:
    """A number with separators between thousands, or a text in its place; a dash where there is none.

    Examples
    --------
    >>> figure(12345), figure(0.33333), figure(2345.6), figure("fewer than 10"), figure(None)
    ('12,345', '0.3333', '2,346', 'fewer than 10', '\u2013')
    """
    if value is None:
        return NONE
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.0f}" if abs(value) >= 1_000 else plain(value)
    return f"{int(value):,}" if isinstance(value, int | float) else value


def percent(share: float | None) -> str:
    """A share as a percentage; a dash where there is none."""
    return NONE if share is None else f"{100 * share:.1f} %"


def points(share: float | None) -> str:
    """A difference of shares, in percentage points; a dash where there is none."""
    return NONE if share is None else f"{100 * share:.1f}"


def filled(text: str, counts: Sequence[float | str]) -> str:
    """A text with its figures in the places of `{}`."""
    return text.format(*map(figure, counts))


def plain(value: float) -> str:
    """A number with four digits, and without a power of ten.

    Examples
    --------
    >>> plain(1e-09), plain(0.33333)
    ('0.000000001', '0.3333')
    """
    return f"{Decimal(f'{value:.4g}'):f}"
