"""The publisher's home as a Dagster resource: where releases lie, and the key that makes them repeatable."""

from pathlib import Path

import dagster as dg
from pydantic import PrivateAttr

from orchestration.contracts.contract_file import ContractFile
from orchestration.series.series import Series
from orchestration.storage.home import Home

HOME = "home"
"""The resource's key."""


class PublisherHome(dg.ConfigurableResource[None]):
    """The publisher's folder. Its key is never a part of the configuration: it is read where it is used."""

    path: str
    """The folder: REPUBLISH_HOME, or what `--home` names."""
    _series: dict[Path, Series] = PrivateAttr(default_factory=dict)

    def series(self, file: ContractFile) -> Series:
        """The series that a contract declares; one object for a whole run, so that history is read once."""
        return self._series.setdefault(file.path, Series(file, Home.at(Path(self.path))))


def resources(home: Home) -> dict[str, PublisherHome]:
    """The resources that the assets of all products need."""
    return {HOME: PublisherHome(path=str(home.path))}
