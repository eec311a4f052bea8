"""The edge of what reads files that others wrote: whatever no check foresaw ends in one line, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from republish.anonymize.errors import RepublishError, UnforeseenInput


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Name what was read when something fails that no check foresaw, and not what the failure says of it.

    Parameters
    ----------
    path
        The release, or what else is read.

    Raises
    ------
    UnforeseenInput
        In place of any error that is none of ours. With `--debug`, the command line shows the error itself.
    """
    try:
        yield
    except (RepublishError, OSError, ImportError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise UnforeseenInput(
            f"{path}: it, or what belongs to it, has something that republish did not foresee"
            f" ({type(error).__name__}), so nothing is said of it. Add --debug to see where; please report it"
        ) from error
