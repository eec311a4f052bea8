"""Files that come with the software and are not code: settings of Dagster, example contracts, suites."""

from __future__ import annotations

from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]
_INSTALLED = Path(__file__).parent / "files"


def package_file(name: str) -> Path:
    """The place of a file or folder that comes with the software.

    In a checkout it is at the top; an installed package carries it inside.

    Parameters
    ----------
    name
        `dagster.yaml`, `workspace.yaml` or `data_contracts`.
    """
    installed = _INSTALLED / name
    return installed if installed.exists() else _CHECKOUT / name
