"""The chain run dry: every step of a release but those that write."""

from __future__ import annotations

from dataclasses import replace

from orchestration.chain.delta import compare
from orchestration.chain.making import Clock, Made, draw_candidate, make_candidate
from orchestration.chain.snapshot import Snapshot
from orchestration.series.basis import basis_of
from orchestration.series.series import Series


def rehearsing(series: Series) -> Series:
    """The same series in a home that stays as it is: no key is made in it."""
    return replace(series, home=series.home.untouched())


def refuse_damaged(series: Series) -> None:
    """Check what a series has published, as every release does before anything else.

    Raises
    ------
    RepublishError
        As `Series.locked_for` and `Series.verify_published` do.
    """
    series.check()
    series.verify_published()


def rehearse(series: Series, release: str, snapshot: Snapshot) -> Made:
    """The candidate that a release would be made of, audited, and nothing written.

    Parameters
    ----------
    series
        What `rehearsing` returned.
    release
        The next one that is not published.
    snapshot
        As `look_at_snapshot` found it.

    Raises
    ------
    RepublishError
        Whatever `compare_snapshots` and `compute_candidate` would refuse it with.
    """
    basis = basis_of(series, release)
    compare(series, release, snapshot, basis)
    return make_candidate(series, release, snapshot.table, basis, Clock())


def held_back_next(series: Series, release: str, made: Made) -> int:
    """How many people the release after this one would hold back, if its table were the same.

    For values that come and go: there, people may be published for some releases and not for ever.
    """
    sensitive = series.contract.sensitive
    if sensitive is None or sensitive.semantics != "transient":
        return 0
    number = series.chain_number(release) + 1
    return draw_candidate(series, release, number, made.people, made.candidate.state).figures.held_back
