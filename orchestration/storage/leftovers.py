"""What commands that were killed left of people in a home: finished, or removed."""

from __future__ import annotations

import logging
import shutil
from contextlib import suppress
from pathlib import Path

from republish.orchestration.storage.home import Home, if_free
from republish.orchestration.storage.replacing import settle_replacing
from republish.orchestration.storage.scratch import clear_scratch
from republish.orchestration.storage.store import PARTIAL

_log = logging.getLogger(__name__)


def settle(home: Home, product: str = "*") -> None:
    """Finish or remove what killed commands left of people in a home, and in this user's temporary folders.

    What live commands write is left to them. Warnings name what was found.

    Parameters
    ----------
    product
        Only what was left of this product is looked for; `*` for all of them.

    Raises
    ------
    HomeError
        If something can't be finished.
    """
    clear_scratch()
    for root in sorted(path for path in home.path.glob(f"private/{product}") if path.is_dir()):
        settle_replacing(home, root)
        for series in sorted(path for path in root.glob("[!.]*") if path.is_dir()):
            _clear_half_written(series)


def _clear_half_written(series: Path) -> None:
    """Remove what a killed command had written half in a series; a live one removes its own."""
    found = [path for path in series.rglob(f".*{PARTIAL}") if path.exists()]
    if not found:
        return
    with suppress(PermissionError), if_free(series, ".lock") as is_free:
        if is_free:
            for path in found:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            return
    _log.warning("%s: has %d files or folders that are half written", series, len(found))
