"""Errors, by meaning. Each message is one line for the publisher: what, where, and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def as_data(text: str) -> str:
    """Text from a file or a path in one line, with every letter visible: it does nothing to a terminal."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def smaller(parameter: str, people: int, most: int) -> str:
    """The way out where `most` of the people share a value: the largest parameter that they would bear."""
    largest = people // most
    if largest < 2:
        return f"merge rare and frequent values: no {parameter} is small enough for these people"
    return f"choose {parameter}: {largest}, the largest that these people bear"


class RepublishError(Exception):
    """Any refusal of republish. `exit_code` is what the command line ends with."""

    exit_code = 1

    def __init__(self, message: str, verdicts: Sequence[Any] = ()):
        super().__init__("\n".join(as_data(line) for line in message.split("\n")))  # foreign names, too
        self.verdicts = tuple(verdicts)
        """What checks found, where a check refused."""


class ContractError(RepublishError):
    """A contract that can't be used: every fault in it, each with its key and what is accepted.

    Parameters
    ----------
    where
        The contract's file, or another word a reader finds it by.
    faults
        One `(key, what is wrong and what is accepted)` per fault. A single one without a key is one line.
    """

    exit_code = 2

    def __init__(self, where: str, faults: list[tuple[str, str]]):
        lines = [as_data(f"{key}: {message}" if key else message) for key, message in faults]
        count = "1 fault" if len(lines) == 1 else f"{len(lines)} faults"
        is_of_all = len(faults) == 1 and not faults[0][0]  # an option's fault, say, is not in the contract
        said = lines[0] if is_of_all else "\n  ".join([f"{count} in the contract", *lines])
        super().__init__(f"{as_data(where)}: {said}")
        self.where = where
        self.faults = faults


class SnapshotError(RepublishError):
    """A snapshot that is missing, unreadable or not what the contract promises."""

    exit_code = 2

    def __init__(
        self,
        message: str,
        verdicts: Sequence[Any] = (),
        rows: pl.DataFrame | None = None,
        table: pl.DataFrame | None = None,
    ):
        super().__init__(message, verdicts)
        self.rows = rows
        """The rows at fault, for the publisher alone: they have identifiers, and the message has none."""
        self.table = table
        """The whole snapshot that is refused, to be counted."""


class HomeError(RepublishError):
    """The publisher's own folder can't be used: another key, newer history, a second process."""

    exit_code = 2


class _OfForeignFiles(RepublishError):
    """A refusal in one line, whatever a name or a file that somebody else wrote has in it."""

    exit_code = 2

    def __init__(self, message: str):
        super().__init__(as_data(message))


class PublishedFolderError(_OfForeignFiles):
    """A published folder is not what its manifest says: changed, incomplete, or out of the chain."""


class PortTaken(RepublishError):
    """A server can't listen on the port that was asked for."""

    exit_code = 2


class QueryError(_OfForeignFiles):
    """A count that a published release can't be asked for."""


class PersonError(_OfForeignFiles):
    """The request does not name a person, or names none uniquely."""


class NotEligible(RepublishError):
    """The batch can't be published under the principle: refused for privacy."""

    exit_code = 3


class ValueChangeRefused(RepublishError):
    """Sensitive values changed in a series whose contract refuses that."""

    exit_code = 3


AT_FAULT = (
    "What is published stays as it is. The principle should have kept its promise, so the fault lies with"
    " republish, or with a series that an earlier version began: begin a new series, and report it as"
    " SECURITY.md says"
)
"""What to do where a release that was made to keep a promise breaks it."""


class AuditFailed(RepublishError):
    """A candidate release breaks a promise; it is not published. `verdicts` are what was found."""

    exit_code = 3


class AlreadyPublished(RepublishError):
    """A published release is a fact: it can't be made again from other inputs or parameters."""

    exit_code = 3


class LimitError(_OfForeignFiles):
    """A file exceeds a size limit, or the configured limit is not a number."""


class UnforeseenInput(_OfForeignFiles):
    """Something in a file that somebody else wrote, which no check of ours names."""


class StoreError(_OfForeignFiles):
    """An object store that can't be used, or has something else where a release is to be."""


class SignatureError(_OfForeignFiles):
    """A signed report, or what it is about, is not what was signed; or a key can't be used."""
