"""The candidate of a release: computed, audited and committed, or found as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymize.errors import AlreadyPublished
from anonymize.principles import principle_of
from orchestration.chain.commit import commit
from orchestration.chain.inputs import made_from, people_of
from orchestration.chain.making import Clock, make_candidate
from orchestration.expectations import start_judge
from orchestration.series.basis import basis_of
from orchestration.series.committed import COMMITTED, Committed
from orchestration.series.series import Series


def compute_candidate(series: Series, release: str) -> Committed:
    """Compute, audit and commit the candidate of a release, or find it already committed.

    Raises
    ------
    RepublishError
        As `make_candidate` does. Then nothing is committed.
    AlreadyPublished
        If the release is published and was made from other inputs or parameters.
    """
    start_judge()
    with series.locked_for(release) as folder:
        basis = basis_of(series, release)
        present = made_from(series, release, basis)
        committed = series.committed(release)
        if series.is_published(release):
            return _already_published(series, release, committed, present)
        if committed is not None and committed.made_from == present:
            return committed
        (folder / COMMITTED).unlink(missing_ok=True)
        clock = Clock()
        made = make_candidate(series, release, people_of(series, release, folder), basis, clock)
        return commit(series, release, folder, made, present, clock)


def _already_published(
    series: Series, release: str, committed: Committed | None, present: Mapping[str, Any]
) -> Committed:
    """A published release is verified, never computed again."""
    stated = series.verify(release)
    if committed is None:
        published_with = principle_of(series.contract).parameters.model_validate(stated["principle"])
        changed = ["parameters"] if published_with != series.contract.principle else []
        committed = Committed(parameters=stated["principle"], is_new=False)
    else:
        # A part of the private folder that is not kept any more has nothing to say.
        made = committed.made_from.items()
        changed = [part for part, value in made if present.get(part) not in (None, value)]
    if changed:
        raise AlreadyPublished(
            f"{series.name} {release} is published, and was made from other inputs than the present ones:"
            f" {', '.join(changed)}. A published release can't be made again: let the change take effect from"
            " the next release on, or begin a new series"
        )
    return committed
