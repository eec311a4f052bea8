"""A series of releases: the place in a home where a contract's releases are, and their calendar."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from republish.anonymize.contract import Product
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.calendar import Calendar, calendar_of, today
from republish.orchestration.series.facts import Chain, facts_of
from republish.orchestration.series.other_series import Former, former_series, superseded
from republish.orchestration.series.place import Place
from republish.orchestration.storage.history import History
from republish.orchestration.storage.home import Home


@dataclass(frozen=True, init=False)
class Series(Place):
    """The chain of releases that a contract declares, in a publisher's home."""

    file: ContractFile
    """The contract and where it lies."""
    product: str = field(init=False)
    series: str = field(init=False)

    def __init__(self, file: ContractFile, home: Home) -> None:
        """The contract says which product and which series of it the place is of."""
        super().__init__(home, file.contract.product, file.contract.series)
        object.__setattr__(self, "file", file)

    @property
    def contract(self) -> Product:
        """The product that the contract declares."""
        return self.file.contract

    @property
    def calendar(self) -> Calendar:
        """The dates of its releases."""
        return calendar_of(self.file)

    @property
    def next_due(self) -> str | None:
        """The first due release that is not published; None if all of them are."""
        return next((release for release in self.calendar.due if not self.is_published(release)), None)

    @property
    def late(self) -> list[str]:
        """The releases that are not published, and should be since the end of their day."""
        waiting = self.next_due
        return [release for release in self.calendar.due if waiting and waiting <= release < today()]

    @cached_property
    def history(self) -> History:
        """The history of the home's releases."""
        return History(self.home.history)

    @cached_property
    def superseded(self) -> Former | None:
        """The series that this one goes on from, as it was left.

        None if there is none. Once this one is begun, the other's working files may be deleted.

        Raises ContractError if there is no such series, or it can't be gone on from.
        """
        name = self.contract.supersedes
        if name is None:
            return None
        return former_series(self.other(name)) if self.releases else superseded(self, self.file)

    @property
    def chain(self) -> Chain:
        """The series that go on from one another up to this one."""
        if self.releases and (begun := facts_of(self)) is not None:
            return begun.chain_of(self.series)
        before = self.superseded
        return before.chain if before else Chain(self.series, 0)

    def chain_number(self, release: str) -> int:
        """The number of a release counted from the first of the series that this one goes on from."""
        return self.calendar.number(release) + self.chain.releases_before

    @property
    def pseudonym_key(self) -> bytes:
        """The key of pseudonyms; the same for all series that go on from one another."""
        return self.other(self.chain.first).key("pseudonym")

    @property
    def shard_key(self) -> bytes:
        """The key of shards; the same for all series that go on from one another."""
        return self.other(self.chain.first).key("shard")
