"""What other projects import: the Dagster component, and the releases of a contract as partitions.

In a checkout, the folders of this package are links to those at the top of it.
"""

from typing import Any

__all__ = ["ReleaseProduct", "release_partitions"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from republish.orchestration.dagster import component  # noqa: PLC0415 # takes Dagster with it

    return getattr(component, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
