"""What other programs import: releases made and read as frames, and the component for Dagster.

In a checkout, the folders of this package are links to those at the top of it. Nothing is imported before it
is asked for: reading a release takes no Dagster.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from republish.anonymize.errors import RepublishError
    from republish.orchestration.dagster.component import ReleaseProduct, release_partitions
    from republish.orchestration.library.contract import Contract
    from republish.orchestration.library.reading import Published, audit, read
    from republish.orchestration.library.release import Release, release
    from republish.orchestration.library.state import State
    from republish.orchestration.readers.estimate.command import Measure, estimate

__all__ = [
    "Contract",
    "Measure",
    "Published",
    "Release",
    "ReleaseProduct",
    "RepublishError",
    "State",
    "audit",
    "estimate",
    "read",
    "release",
    "release_partitions",
]
"""What is public. Everything else may change from version to version."""

_PLACES = {
    "anonymize.errors": ("RepublishError",),
    "orchestration.dagster.component": ("ReleaseProduct", "release_partitions"),
    "orchestration.library.contract": ("Contract",),
    "orchestration.library.reading": ("Published", "audit", "read"),
    "orchestration.library.release": ("Release", "release"),
    "orchestration.library.state": ("State",),
    "orchestration.readers.estimate.command": ("Measure", "estimate"),
}


def __getattr__(name: str) -> Any:
    place = next((place for place, names in _PLACES.items() if name in names), None)
    if place is not None:
        try:
            return getattr(import_module(f"republish.{place}"), name)
        except ModuleNotFoundError as error:
            way_out = f"{error.name} is not installed: pip install 'republish[publish]'"
            raise ImportError(f"republish.{name}: {way_out}", name=error.name) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
