"""What is installed only by those who take it."""

from __future__ import annotations

AUDIT = ("networkx", "numba", "pyarrow", "scipy")
"""What making and attacking releases takes, beside what reading them does."""


def not_installed(error: ModuleNotFoundError) -> str:
    """Which package is missing, and how it is installed."""
    extra, what = ("audit", "attacking or simulating") if error.name in AUDIT else ("publish", "publishing")
    return f"{error.name} is not installed, which {what} releases takes: pip install 'republish[{extra}]'"
