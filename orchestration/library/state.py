"""What a release leaves for the next one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.contract import Product
from republish.anonymize.errors import HomeError
from republish.anonymize.people.randomness import derive_key
from republish.anonymize.principle import state as principle
from republish.orchestration.chain.shard import Remembered
from republish.orchestration.chain.snapshot import KEPT, PEOPLE, Snapshot, kept_snapshot
from republish.orchestration.series.release_record import (
    COMMITTED,
    ReleaseRecord,
    read_committed,
    read_knowledge,
    read_state,
    write_committed,
    write_tables,
)
from republish.orchestration.storage.home import SHORTEST_KEY, private_folder
from republish.orchestration.storage.store import sha256, write_text

KEY, SEALED = "secret.key", "state"
"""The file of the key in the folder of a state, and the purpose of the seal beside it."""
RELEASES = "releases"
"""What a saved state says of itself: the dates so far."""
OF = "of"
"""There, too: what the contract said of `BINDING`."""
BINDING = ("product", "series", "identifier", "rows", "row")
"""Keys of a contract that say whose releases they are, and what a row of them is about."""


def bound(contract: Product) -> dict[str, Any]:
    """What a contract says of `BINDING`."""
    return {key: getattr(contract, key, None) for key in BINDING}


@dataclass(frozen=True)
class State:
    """All that is remembered of a series: secret, and to be kept for the next release.

    Whoever has it knows everybody's values. Without it the series can't be continued.
    """

    key: str = field(repr=False)
    """What makes pseudonyms and random choices; whoever knows it can replay them."""
    releases: tuple[str, ...] = ()
    """The dates of the releases so far."""
    snapshot: Snapshot | None = field(default=None, repr=False)
    """The people of the last one."""
    remembered: Remembered = field(default_factory=Remembered, repr=False)
    """The principle's memory, an adversary's, and what was promised."""
    declared: Mapping[str, Any] | None = field(default=None, repr=False)
    """What the contract of the last one declared."""
    of: Mapping[str, Any] = field(default_factory=dict)
    """The contract's keys that can't change (`BINDING`) and what it says of them: nothing before a first
    release, and in states that were saved by versions below 0.20."""

    @classmethod
    def begin(cls, key: str | None = None) -> Self:
        """The state before a first release.

        Parameters
        ----------
        key
            At least 16 secret characters; None for new ones, drawn at random. With the key of a home, the
            releases are those that `republish release` makes there of the same contract.

        Raises HomeError if the key is too short.
        """
        if key is not None and len(key) < SHORTEST_KEY:
            raise HomeError(f"key: needs at least {SHORTEST_KEY} characters, or leave it out")
        return cls(secrets.token_hex(32) if key is None else key)

    def save(self, folder: str | Path) -> None:
        """Write it into a folder for its owner alone; what another state left there is replaced.

        It counts when all of it is there: of a folder that is half written, `load` says so.
        """
        place = private_folder(Path(folder))
        place.chmod(0o700)
        (place / COMMITTED).unlink(missing_ok=True)  # until the last line, nothing in the folder counts
        write_text(place / KEY, self.key)
        before, written = self.remembered, {}
        if self.snapshot is not None:
            self.snapshot.keep(place)
            written = {name: sha256(place / name) for name in (PEOPLE, KEPT)}
            written |= write_tables(place, before.state, before.knowledge or Knowledge())
        record = ReleaseRecord(
            parameters={},
            made_from={RELEASES: list(self.releases), OF: dict(self.of)},
            declared=self.declared or {},
            promises=before.promises,
            files=written,
        )
        write_committed(place, record, _seal(self.key))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what `save` wrote. Raises HomeError if it is not there, or not as it was saved."""
        place = Path(folder)
        try:
            begun = cls.begin((place / KEY).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise HomeError(f"{place}: has no {KEY} that can be read, so no state was saved there") from None
        record = read_committed(place, _seal(begun.key))
        if record is None:
            raise HomeError(f"{place}: the state is not as it was saved: put it back from a copy")
        if not record.made_from[RELEASES]:
            return begun
        # Read whole: the folder may be written to before the next release.
        tables = dict(read_state(place, record).tables)
        return cls(
            begun.key,
            tuple(record.made_from[RELEASES]),
            kept_snapshot(place),
            Remembered(principle.State(tables), read_knowledge(place, record), record.promises),
            record.declared,
            record.made_from.get(OF, {}),
        )


def _seal(key: str) -> bytes:
    return derive_key(key.encode(), SEALED)
