"""What is installed only by those who take it."""

from __future__ import annotations

AUDIT = ("networkx", "numba", "pyarrow", "scipy")
"""Packages that making and attacking releases needs, and reading them does not."""


def not_installed(error: ModuleNotFoundError) -> str:
    """Which package is missing, and how it is installed."""
    extra, what = ("audit", "attacking or simulating") if error.name in AUDIT else ("publish", "publishing")
    return f"{error.name} is not installed, which {what} releases takes: pip install 'republish[{extra}]'"
