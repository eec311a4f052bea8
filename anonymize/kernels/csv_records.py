"""A test, byte by byte, that every reader reads a CSV text alike: it is as RFC 4180 says."""

from anonymize.arrays import Words
from anonymize.kernels.compiled import compiled

FINE, BARE_QUOTE, AFTER_QUOTE, NEVER_CLOSED, LONE_RETURN, OTHER_WIDTH = range(6)
"""What may be wrong with a text."""
QUOTE, LINE_FEED, RETURN = ord('"'), ord("\n"), ord("\r")


@compiled()
def csv_records(content: Words, separator: int) -> tuple[int, int, int, int, int, int]:
    """Count the records of a CSV text, up to the first byte that readers may disagree about.

    A field is quoted from its first byte to its last, with every quotation mark in it doubled, or has none.
    Records end in LF or CR LF, and all have as many fields as the first. A reader that takes a mark within a
    field for the beginning of a quotation swallows everything up to the next mark, other people included.

    Parameters
    ----------
    content
        uint8[N]: the text, in an encoding in which bytes below 128 are ASCII.
    separator
        The byte between fields.

    Returns
    -------
    tuple of int
        The number of records, the header among them; the number of fields in the first; the end of the first;
        what is wrong; the byte where (for fields that are too few or too many, where their record begins);
        the number of the field there, from 0 on (for a record of another width, its number of fields).
    """
    records, width, end_of_first, at = 0, 0, 0, 0
    size = content.size
    while at < size:
        begin, field = at, 0
        while True:
            if at < size and content[at] == QUOTE:
                opened, at = at, at + 1
                while True:
                    while at < size and content[at] != QUOTE:
                        at += 1
                    if at == size:
                        return records, width, end_of_first, NEVER_CLOSED, opened, field
                    at += 1
                    if at == size or content[at] != QUOTE:
                        break
                    at += 1
                if at < size and content[at] not in (separator, LINE_FEED, RETURN):
                    return records, width, end_of_first, AFTER_QUOTE, at, field
            else:
                while at < size and content[at] not in (separator, LINE_FEED, RETURN, QUOTE):
                    at += 1
                if at < size and content[at] == QUOTE:
                    return records, width, end_of_first, BARE_QUOTE, at, field
            field += 1
            if at == size or content[at] != separator:
                break
            at += 1
        if at < size and content[at] == RETURN:
            if at + 1 == size or content[at + 1] != LINE_FEED:
                return records, width, end_of_first, LONE_RETURN, at, field - 1
            at += 1
        at = min(at + 1, size)
        if records == 0:
            width, end_of_first = field, at
        elif field != width:
            return records, width, end_of_first, OTHER_WIDTH, begin, field
        records += 1
    return records, width, end_of_first, FINE, size, 0
