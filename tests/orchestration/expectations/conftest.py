"""Great Expectations imports a PySpark that is installed, and one without gRPC ends the process."""

import inspect
import sys

import pytest

from republish.orchestration.expectations.judge import Judge

sys.modules.setdefault("pyspark", None)


@pytest.fixture(autouse=True)
def _everything_is_asked(monkeypatch):
    """Also what other tests see without it."""
    monkeypatch.setattr(Judge, "ask", inspect.unwrap(Judge.ask))
