"""A test, byte by byte, that every reader reads a CSV text alike: it is as RFC 4180 says."""

from republish.anonymize.arrays import Words
from republish.anonymize.kernels.compiled import compiled

FINE, BARE_QUOTE, AFTER_QUOTE, NEVER_CLOSED, LONE_RETURN, OTHER_WIDTH, TOO_LONG = range(7)
"""What may be wrong with a text; the last is for its reader to find."""
QUOTE, LINE_FEED, RETURN = ord('"'), ord("\n"), ord("\r")


@compiled()
def csv_records(  # noqa: PLR0911 - one for each fault
    content: Words, separator: int, width: int, most: int, is_last: bool
) -> tuple[int, int, int, int, int, int]:
    """Count the records of a CSV text, up to the first byte that readers may disagree about.

    A field is quoted from its first byte to its last, with every quotation mark in it doubled, or has none.
    Records end in LF or CR LF, and all have as many fields as the first. A reader that takes a mark within a
    field for the beginning of a quotation swallows everything up to the next mark, other people included.

    Parameters
    ----------
    content
        uint8[N]: the text, or a part of it from the begin of a record on, in an encoding in which bytes below
        128 are ASCII.
    separator
        The byte between fields.
    width
        The number of fields of the first record; 0 if the text begins with it.
    most
        So many records are counted at most.
    is_last
        Whether the text ends with the content. If not, a record that may go on after it is not counted.

    Returns
    -------
    tuple of int
        The number of records; the number of fields in the first of the text; the end of the last; what is
        wrong; the byte where (for fields that are too few or too many, where their record begins); the number
        of the field there, from 0 on (for a record of another width, its number of fields).
    """
    records, begin, at = 0, 0, 0
    size = content.size
    while at < size and records < most:
        begin, field = at, 0
        while True:
            if at < size and content[at] == QUOTE:
                opened, at = at, at + 1
                while True:
                    while at < size and content[at] != QUOTE:
                        at += 1
                    if at == size:
                        fault = NEVER_CLOSED if is_last else FINE
                        return records, width, begin, fault, opened, field
                    at += 1
                    if at == size or content[at] != QUOTE:
                        break
                    at += 1
                if at < size and content[at] not in (separator, LINE_FEED, RETURN):
                    return records, width, begin, AFTER_QUOTE, at, field
            else:
                while at < size and content[at] not in (separator, LINE_FEED, RETURN, QUOTE):
                    at += 1
                if at < size and content[at] == QUOTE:
                    return records, width, begin, BARE_QUOTE, at, field
            field += 1
            if at == size or content[at] != separator:
                break
            at += 1
        if at < size and content[at] == RETURN:
            if content[at + 1] != LINE_FEED if at + 1 < size else is_last:
                return records, width, begin, LONE_RETURN, at, field - 1
            at += 1
        if at == size and not is_last:
            return records, width, begin, FINE, at, field
        at = min(at + 1, size)
        if width == 0:
            width = field
        elif field != width:
            return records, width, begin, OTHER_WIDTH, begin, field
        records += 1
    return records, width, at, FINE, at, 0
