"""What a cell of another tool's table covers: the values of an attribute that its text allows.

A cell is read in two steps, whatever its attribute is. `READERS` split the text into values and say what lies
between them; `_value_reader` reads one value, to the number, the day or the label. A text that can be read in
two ways, or in none, is refused. Of whole numbers, a cell covers those inside of what is written, never one
outside: from 20.5 to 30.5 are 21 to 30.
"""

from __future__ import annotations

import bisect
import datetime as dt
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from republish.anonymize.contract import (
    CategoryAttribute,
    DateAttribute,
    NumberAttribute,
    QuasiIdentifier,
    Written,
)
from republish.anonymize.people.codes import code_domain
from republish.orchestration.snapshots.bounds import ABOVE, BELOW, FROM, UP_TO

Bounds = tuple[float, float]
"""The lowest and the highest code, both included."""
Cell = tuple[Bounds, ...]
"""All that is covered: intervals of codes that do not touch each other, in their order."""
ReadValue = Callable[[str], Bounds | None]

DASHES = r"-|\u2010|\u2011|\u2012|\u2013|\u2014|\u2212"
BETWEEN = re.compile(rf"\s*(?:{DASHES}|\.\.+|\u2026|~|:|\bto\b)\s*")
"""What stands between the two ends of an interval without brackets."""
INSIDE = re.compile(rf"\s*(?:[,;]|{DASHES}|\.\.+|\u2026|~|:|\bto\b)\s*")
"""The same inside of brackets."""
NO_END = {"-inf", "inf", "+inf", "-\u221e", "\u221e", "+\u221e", "*", ""}
"""In place of an end that there is not."""
WORDED = {">": ABOVE, ">=": FROM, "<": BELOW, "<=": UP_TO}
"""What words mean beside a number: 65 and over, less than 20."""
MIDNIGHT = re.compile(r"[ T]00:00(?::00(?:\.0+)?)?$")
"""What follows a day where a program writes moments."""
SIGNS = {"\u2264": "<=", "\u2265": ">=", "=<": "<=", "=>": ">="}
EPOCH = dt.date(1970, 1, 1)
MOST_MASKED = 1_000_000
"""Numbers of a domain up to which a mask is looked for among them."""
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+")
"""What may be one number with commas between its thousands."""
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"


class NoSuchValue(ValueError):
    """A text that can be read, and that covers no value which the attribute may have."""


def cell_reader(
    qi: QuasiIdentifier,
    hierarchy: Sequence[Sequence[str]] | None = None,
    suppressed: Sequence[str] = ("*",),
    written: Written | None = None,
) -> Callable[[str], Cell | None]:
    """A function from a published text to what it covers; None for a text that can't be read.

    The function raises NoSuchValue for a text that covers nothing, such as a mean of whole numbers.

    Parameters
    ----------
    qi
        The attribute.
    hierarchy
        Paths `leaf, parent, …, root`; the contract's own hierarchy is known anyhow.
    suppressed
        Texts that stand for anything; stars alone always do.
    written
        How numbers and dates are written; as republish writes them if it is None.
    """
    value = value_reader(qi, written)
    nodes = _nodes(qi, hierarchy, value)
    form = written.date_format if written and isinstance(qi, DateAttribute) else None

    def read(text: str) -> Cell | None:
        if text in nodes:
            return _inside(nodes[text], qi)
        if (single := value(text)) is not None:
            return _inside([single], qi)
        if text in suppressed or re.fullmatch(r"\*+", text):
            return (code_domain(qi),)
        if form is not None and "*" in text:
            text = _plain_mask(text, form)
        for reader in READERS:
            if (ways := {tuple(way) for way in reader(text, qi, value)}) != set():
                return _inside(ways.pop(), qi) if len(ways) == 1 else None
        return None

    return read


def end_reader(
    qi: QuasiIdentifier, read: Callable[[str], Cell | None], written: Written | None, at: int
) -> Callable[[str], Cell | None]:
    """A function from a text in a column of lowest (`at` 0) or highest (1) values to the end that it gives.

    The end is rounded inward, as that of an interval. Other texts than values are read as cells.
    """
    value = value_reader(qi, written)

    def end(text: str) -> Cell | None:
        if text in NO_END:
            return (code_domain(qi),)
        if (single := value(text)) is None:
            return None if (cell := read(text)) is None else ((cell[0][0], cell[-1][1]),)
        bound = single[at]
        if qi.discrete:
            bound = math.floor(bound) if at else math.ceil(bound)
        return ((bound, bound),)

    return end


def accepted(qi: QuasiIdentifier) -> str:
    """The usual ways in which a cell of an attribute is written."""
    if isinstance(qi, CategoryAttribute):
        return "a label, {a, b}, a to d, 12***, a node of the hierarchy, * for anything"
    if isinstance(qi, DateAttribute):
        return "2024-01-31, 2024-01, 2024, 202*, 2024-01-**, [2024-01-01, 2024-03-31], * for anything"
    masked = "2500*, " if qi.discrete else ""
    return f"21, [21, 23], (20, 23], 21-23, {{21, 23}}, {masked}>=65, * for anything"


def value_reader(qi: QuasiIdentifier, written: Written | None = None) -> ReadValue:
    """From one value's text to its codes: two that differ for a date given to the month or year."""
    if isinstance(qi, CategoryAttribute):
        code = {label: number for number, label in enumerate(qi.labels)}
        return lambda text: (code[text], code[text]) if text in code else None
    if isinstance(qi, DateAttribute):
        form = written.date_format if written else None
        return _date if form is None else lambda text: _date_in(text, form)
    thousands, decimal = (written.thousands, written.decimal) if written else (None, None)
    decimal = decimal or ("," if thousands == "." else ".")
    words = (written.bounds if written else None) or {}
    bounds = {word: (float(number), float(number)) for word, number in words.items()}
    return lambda text: bounds.get(text) or _number(text, decimal, thousands)


def _inside(bounds: Iterable[Bounds], qi: QuasiIdentifier) -> Cell:
    """What lies in any of some intervals, in order, those that touch as one; of whole numbers, these."""
    cell: list[Bounds] = []
    for low, high in sorted(bounds):
        first, last = (math.ceil(low), math.floor(high)) if qi.discrete else (low, high)
        if first > last:
            # An interval that ends before it begins is not a number with decimals, and is named as it is.
            if low > high:
                return ((low, high),)
            raise NoSuchValue
        if cell and first <= cell[-1][1] + int(qi.discrete):
            cell[-1] = cell[-1][0], max(cell[-1][1], last)
        else:
            cell.append((first, last))
    return tuple(cell)


def _number(text: str, decimal: str, thousands: str | None) -> Bounds | None:
    if thousands is not None:
        grouped = rf"[+-]?\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+(?:{re.escape(decimal)}\d*)?"
        if re.fullmatch(grouped, text):
            text = text.replace(thousands, "")
    if decimal != ".":
        text = "?" if "." in text else text.replace(decimal, ".", 1)
    text = text.replace("\u2212", "-")
    if not re.fullmatch(NUMBER, text):
        return None
    # Beyond 2^53 not every whole number is one of its own; no domain of a contract reaches so far.
    return (float(text), float(text)) if abs(float(text)) < 2**53 else None


def _date(text: str) -> Bounds | None:
    text = MIDNIGHT.sub("", text)
    parts = re.fullmatch(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?", text)
    return None if parts is None else _days(*(int(part or 0) for part in parts.groups()))


def _date_in(text: str, form: str) -> Bounds | None:
    """A date in a format of its own, to the day, the month or the year."""
    day = form.partition("%H")[0].rstrip(" T")
    for some in (form, day, re.sub(r"[^%]%d$|%d[^%]?", "", day), "%Y"):
        try:
            read = dt.datetime.strptime(text, some)  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
        if read.time() != dt.time():
            return None
        return _days(read.year, read.month * ("%m" in some), read.day * ("%d" in some))
    return None


def _plain_mask(text: str, form: str) -> str:
    """A date with stars in it, in a format of its own, as YYYY-MM-DD with these stars."""
    parts = {"%d": r"(?P<d>[0-9*]{2})", "%m": r"(?P<m>[0-9*]{2})", "%Y": r"(?P<Y>[0-9*]{4})"}
    pattern = re.escape(form)
    for part, some in parts.items():
        pattern = pattern.replace(re.escape(part), some)
    found = re.fullmatch(pattern, text)
    return "{Y}-{m}-{d}".format(**found.groupdict()) if found else text


def _days(year: int, month: int, day: int) -> Bounds | None:
    """The first and the last day of a year, a month or a day, where a part that is not given is 0."""
    try:
        first = dt.date(year, month or 1, day or 1)
        if day:
            after = first + dt.timedelta(1)
        elif month:
            after = dt.date(year + (month == 12), month % 12 + 1, 1)
        else:
            after = dt.date(year + 1, 1, 1)
    except (ValueError, OverflowError):
        return None
    return (first - EPOCH).days, (after - EPOCH).days - 1


def _set(text: str, qi: QuasiIdentifier, value: ReadValue) -> Iterator[Sequence[Bounds]]:
    """{a, b, c}, ['a', 'b'] or a, b, c: its members, and nothing between them.

    What may be one number with commas between its thousands, as 25,000, is not taken for a set.
    """
    if isinstance(qi, NumberAttribute) and THOUSANDS.fullmatch(text):
        lowest, highest = qi.domain
        if ",0" in text or lowest <= int(text.replace(",", "")) <= highest:
            return
    is_braced = re.fullmatch(r"(?:(?:frozen)?set\()?\{.*\}\)?", text) is not None
    is_quoted = re.fullmatch(r"[\[(]\s*(['\"]).*\1,?\s*[\])]", text) is not None
    inner = re.sub(r"^[a-z(]*\{|\}\)?$", "", text) if is_braced else text
    inner = inner[1:-1] if is_quoted else inner
    for separator in (",", ";", "|"):
        parts = [part.strip() for part in inner.strip().rstrip(separator).split(separator)]
        parts = [part[1:-1] if re.fullmatch(r"(['\"]).*\1", part) else part for part in parts]
        if is_braced or is_quoted or len(parts) > 1:
            members = [value(part) for part in parts]
            if all(member is not None for member in members):
                yield [member for member in members if member is not None]


def _bracketed(text: str, qi: QuasiIdentifier, value: ReadValue) -> Iterator[Sequence[Bounds]]:
    """[21, 23], (20, 23], [21; 24[ and the like: round or turned-around brackets leave the end out.

    Of labels, [a, b] and (a, b) may be a list of two as well: they are read if nothing lies between.
    """
    parts = re.fullmatch(r"([\[\](])\s*(.*?)\s*([\])\[])", text)
    if parts is None:
        return
    opening, inner, closing = parts.groups()
    lowest, highest = code_domain(qi)
    is_like_a_list = isinstance(qi, CategoryAttribute) and opening + closing in ("[]", "()")

    def is_list(sign: str) -> bool:
        return is_like_a_list and sign.strip() in (",", ";")

    for between in INSIDE.finditer(inner):
        low, high = inner[: between.start()], inner[between.end() :]
        is_open = low in NO_END, high in NO_END
        first = (lowest, lowest) if is_open[0] else value(low)
        last = (highest, highest) if is_open[1] else value(high)
        if is_list(between.group()) and first is not None and last is not None and last[0] - first[1] > 1:
            continue
        if first is not None and last is not None and (low or high):
            begin = first[0] if opening == "[" or is_open[0] else _above(first[1], qi)
            end = last[1] if closing == "]" or is_open[1] else _below(last[0], qi)
            yield [(begin, end)]


def _compared(text: str, qi: QuasiIdentifier, value: ReadValue) -> Iterator[Sequence[Bounds]]:
    """<20, <=20, >65, >=65, 65+, 65 and over."""
    lowest, highest = code_domain(qi)
    if re.search(r"[^\W\d_]", text) and not isinstance(qi, CategoryAttribute):
        for sign, pattern in WORDED.items():
            if (found := re.match(pattern, text.lower())) is not None:
                text = f"{sign} {found[found.lastindex or 0]}"
                break
    if text.endswith("+") and (least := value(text[:-1].strip())) is not None:
        yield [(least[0], highest)]
    parts = re.fullmatch(r"(<=|>=|=<|=>|<|>|\u2264|\u2265)\s*(.+)", text)
    bounds = value(parts[2]) if parts else None
    if parts is None or bounds is None:
        return
    low, high = bounds
    yield [
        {
            "<": (lowest, _below(low, qi)),
            "<=": (lowest, high),
            ">": (_above(high, qi), highest),
            ">=": (low, highest),
        }[SIGNS.get(parts[1], parts[1])]
    ]


def _masked(text: str, qi: QuasiIdentifier, _value: ReadValue) -> Iterator[Sequence[Bounds]]:
    """2500*, *345, 1*3, 202*, 12***: every digit is possible; of labels, those that are alike elsewhere.

    A label has as many letters as the mask, or any number of them after a single star at the end. Of numbers
    with decimals nobody says which digits the stars are.
    """
    if "*" not in text or not text.strip("*"):
        return
    alike, found = re.compile(re.escape(text).replace(r"\*", ".")), list[Bounds]()
    if isinstance(qi, CategoryAttribute):
        some = re.compile(re.escape(text[:-1]) + ".*") if re.fullmatch(r"[^*]+\*", text) else alike
        labels, begin = _in_order(tuple(qi.labels)), text.partition("*")[0]
        first = bisect.bisect_left(labels, (begin, 0))
        near = itertools.takewhile(
            lambda one: one[0].startswith(begin), itertools.islice(labels, first, None)
        )
        found = [(n, n) for label, n in near if some.fullmatch(label)]
    elif isinstance(qi, DateAttribute):
        found = [(day, day) for day in _days_alike(text.replace("/", "-"))]
    elif qi.discrete and re.fullmatch(r"[0-9]+\*+", text):
        low, high = (float(text.replace("*", digit)) for digit in "09")
        found = [(low, high)]
    elif qi.discrete and re.fullmatch(r"[0-9*]+", text) and qi.domain[1] - qi.domain[0] <= MOST_MASKED:
        found = [(n, n) for n in map(int, _numbers_alike(text)) if qi.domain[0] <= n <= qi.domain[1]]
    else:
        return
    if found:
        yield found


@cache
def _in_order(labels: Sequence[str]) -> list[tuple[str, int]]:
    """Labels in the order of the alphabet, with their places."""
    return sorted((label, n) for n, label in enumerate(labels))


def _numbers_alike(mask: str) -> Iterator[str]:
    """The numbers with as many digits as a mask, and those that it shows."""
    begins = list("123456789" if mask[0] == "*" else mask[0])
    for sign in mask[1:]:
        begins = [begin + digit for begin in begins for digit in ("0123456789" if sign == "*" else sign)]
        if len(begins) > MOST_MASKED:
            return
    yield from begins


def _days_alike(mask: str) -> list[int]:
    """The days, in the years that there may be, of a date with stars in it: 202*, 2024-0*, 2024-01-**."""
    if len(mask) not in (4, 7, 10) or not re.fullmatch(r"[0-9*]{4}(-[0-9*]{2}){0,2}|[0-9]{4}\*+", mask):
        return []
    parts = [mask[:4], mask[5:7] or "**", mask[8:10] or "**"]
    alike = [re.compile(part.replace("*", ".")) for part in parts]
    years = map(int, _numbers_alike(parts[0]))
    months = [month for month in range(1, 13) if alike[1].fullmatch(f"{month:02}")]
    found = (_days(year, month, 0) for year in years for month in months)
    spans = [(int(span[0]), int(span[1])) for span in found if span is not None]
    if parts[2] == "**":
        return [day for first, last in spans for day in range(first, last + 1)]
    return [
        day
        for first, last in spans
        for day in range(first, last + 1)
        if alike[2].fullmatch(f"{day - first + 1:02}")
    ]


def _dashed(text: str, _qi: QuasiIdentifier, value: ReadValue) -> Iterator[Sequence[Bounds]]:
    """21-23, 21 to 23, 21..23, 2024-01-01 - 2024-03-31."""
    for parts in BETWEEN.finditer(text):
        low, high = value(text[: parts.start()]), value(text[parts.end() :])
        if low is not None and high is not None:
            yield [(low[0], high[1])]


READERS = (_bracketed, _compared, _masked, _dashed, _set)
"""What is tried of a text that is no value, no node and not suppressed; the first that can read it counts."""


def _above(code: float, qi: QuasiIdentifier) -> float:
    if not qi.discrete:
        return math.nextafter(code, math.inf)
    return math.floor(code) + 1


def _below(code: float, qi: QuasiIdentifier) -> float:
    if not qi.discrete:
        return math.nextafter(code, -math.inf)
    return math.ceil(code) - 1


def _nodes(
    qi: QuasiIdentifier, hierarchy: Sequence[Sequence[str]] | None, value: ReadValue
) -> dict[str, list[Bounds]]:
    """The leaves under every node of the hierarchies."""
    own = getattr(qi, "hierarchy", None) or ()
    plain = value_reader(qi)
    nodes: dict[str, list[Bounds]] = {}
    for path, read in [*((path, plain) for path in own), *((path, value) for path in hierarchy or ())]:
        leaf = read(path[0])
        assert leaf is not None, "a hierarchy of values of the attribute"
        for node in path[1:]:
            nodes.setdefault(node, []).append(leaf)
    return nodes
