"""Lineage within a series: each asset, and those that it is made from."""

from __future__ import annotations

from republish.anonymize.contract import Product
from republish.anonymize.principles import principle_of
from republish.orchestration.dagster.names import AUDIT, COUNTERFEITS, DELTA, PUBLICATION, RELEASE, SNAPSHOT


def lineage_of(contract: Product) -> dict[str, list[str]]:
    """Each asset of the product that a contract declares, with those it is made from."""
    principle = principle_of(contract)
    states_counterfeits = COUNTERFEITS in principle.format(contract).tables(contract)
    return lineage(principle.memory.name if principle.memory else None, has_counterfeits=states_counterfeits)


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
    # A second way from the snapshot would let Dagster 1.13.27 refuse backfills from its pages, or not, by the
    # hash seed of its process: it compares partitions that were put together of two ways as if they differed.
    compared = [DELTA]
    remembered = {memory: compared} if memory else {}
    return {
        SNAPSHOT: [],
        DELTA: [SNAPSHOT],
        **remembered,
        **{asset: [*remembered] or compared for asset in (RELEASE, *stated)},
        AUDIT: [RELEASE, SNAPSHOT, *stated],
        PUBLICATION: [RELEASE, *stated, AUDIT],
    }
