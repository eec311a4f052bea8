"""What other programs import: releases made and read as frames, and the component for Dagster.

In a checkout, the folders of this package are those beside it. Nothing is imported before it is asked for:
reading a release takes no Dagster.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from republish.anonymize.errors import RepublishError
    from republish.anonymize.learning.copies import pooled
    from republish.orchestration.dagster.component import ReleaseProduct, release_partitions
    from republish.orchestration.library.auditing import audit
    from republish.orchestration.library.contract import Contract
    from republish.orchestration.library.reading import Published, read
    from republish.orchestration.library.release import Release, release
    from republish.orchestration.library.state import State
    from republish.orchestration.readers.estimate.command import estimate
    from republish.orchestration.readers.estimate.copies import copies

__all__ = [
    "Contract",
    "Published",
    "Release",
    "ReleaseProduct",
    "RepublishError",
    "State",
    "audit",
    "copies",
    "estimate",
    "pooled",
    "read",
    "release",
    "release_partitions",
]
"""What is public. Everything else may change from version to version."""

_PLACES = {
    "Contract": "orchestration.library.contract",
    "Published": "orchestration.library.reading",
    "Release": "orchestration.library.release",
    "ReleaseProduct": "orchestration.dagster.component",
    "RepublishError": "anonymize.errors",
    "State": "orchestration.library.state",
    "audit": "orchestration.library.auditing",
    "copies": "orchestration.readers.estimate.copies",
    "estimate": "orchestration.readers.estimate.command",
    "pooled": "anonymize.learning.copies",
    "read": "orchestration.library.reading",
    "release": "orchestration.library.release",
    "release_partitions": "orchestration.dagster.component",
}

_INSIDE, _BESIDE = Path(__file__).parent, Path(__file__).parents[1]
if not (_INSIDE / "orchestration").exists() and (_BESIDE / "orchestration").is_dir():
    __path__.append(str(_BESIDE))


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"republish.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        from republish.orchestration.extras import not_installed  # noqa: PLC0415 - the folders are found by now

        raise ImportError(f"republish.{name}: {not_installed(error)}", name=error.name) from error


def __dir__() -> list[str]:
    return [*globals(), *__all__]
