"""What the assets of a series are made from, within the series."""

from __future__ import annotations

from orchestration.dagster.names import AUDIT, COUNTERFEITS, DELTA, PUBLICATION, RELEASE, SNAPSHOT


def lineage(memory: str | None, *, has_counterfeits: bool) -> dict[str, list[str]]:
    """Each asset with those it is made from, in the order in which they are made.

    Parameters
    ----------
    memory
        The name of what a principle remembers; None if it remembers nothing.
    has_counterfeits
        Whether releases have a table R(n).
    """
    stated = [COUNTERFEITS] if has_counterfeits else []
    compared = [SNAPSHOT, DELTA]
    remembered = {memory: compared} if memory else {}
    return {
        SNAPSHOT: [],
        DELTA: [SNAPSHOT],
        **remembered,
        **{asset: [*remembered] or compared for asset in (RELEASE, *stated)},
        AUDIT: [RELEASE, SNAPSHOT, *stated],
        PUBLICATION: [RELEASE, *stated, AUDIT],
    }
