"""Object stores: Amazon's S3 and what speaks its language, Google's and Azure's.

One library (obstore) reads and writes all of them. Nobody waits for it, or needs it, who has no address in a
store. Credentials are those of this machine: environment, profile, or role.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from republish.anonymize.errors import StoreError


@dataclass(frozen=True)
class Stored:
    """An object in a store, as it was when it was looked at."""

    address: str
    """`s3://bucket/path/name`."""
    size: int
    """Bytes."""
    tag: str
    """Another one if the content is another one."""

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.address.rpartition("/")[2]

    def content(self) -> bytes:
        """All of it.

        Raises StoreError if it can't be read.
        """
        with _in_our_words(self.address):
            store, path = _store_of(self.address)
            return bytes(import_module("obstore").get(store, path).bytes())


def stored(address: str) -> Stored | None:
    """The object at an address; None if there is none.

    Raises StoreError if the store can't be asked.
    """
    try:
        with _in_our_words(address):
            store, path = _store_of(address)
            found = import_module("obstore").head(store, path)
    except FileNotFoundError:
        return None
    return _of(address.removesuffix(path), found)


def objects_below(folder: str) -> list[Stored]:
    """All objects of a folder and of those in it, by address.

    Raises StoreError if the store can't be asked.
    """
    with _in_our_words(folder):
        store, path = _store_of(folder)
        found = [one for some in import_module("obstore").list(store, f"{path}/") for one in some]
    return sorted((_of(folder.removesuffix(path), one) for one in found), key=lambda one: one.address)


def create(address: str, content: bytes) -> bool:
    """Put an object in a store unless there is one; whole, or not at all.

    Returns
    -------
    bool
        Whether it is new. If not, what was there is still there.

    Raises
    ------
    StoreError
        If it can't be written.
    """
    with _in_our_words(address):
        store, path = _store_of(address)
        obstore, failures = import_module("obstore"), import_module("obstore.exceptions")
        try:
            obstore.put(store, path, content, mode="create", use_multipart=False)
        except failures.AlreadyExistsError:
            return False
    return True


def profile_of(address: str) -> dict[str, str]:
    """The credentials of this machine for an address, for libraries that by themselves know no profiles.

    None are needed by those of other stores than S3.

    Raises StoreError if there are none.
    """
    if not address.startswith("s3://"):
        return {}
    with _in_our_words(address):
        found = import_module("boto3").Session().get_credentials().get_frozen_credentials()
    named = zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), found[:3], strict=True)
    return {name: value for name, value in named if value}


def _of(bucket: str, found: Any) -> Stored:
    tag = str(found["e_tag"] or found["last_modified"]).strip('"')  # Azure's lists have it without quotes
    return Stored(f"{bucket}{found['path']}", found["size"], tag)


def _store_of(address: str) -> tuple[Any, str]:
    """The library's store of an address, and the path in it."""
    scheme, _, rest = address.partition("://")
    bucket, _, path = rest.partition("/")
    options = {}
    if scheme == "s3":  # obstore by itself knows no profiles
        options["credential_provider"] = import_module("obstore.auth.boto3").Boto3CredentialProvider()
    return import_module("obstore.store").from_url(f"{scheme}://{bucket}", **options), path.rstrip("/")


@contextmanager
def _in_our_words(address: str) -> Iterator[None]:
    """Whatever the library raises, said in a line: its own words may have credentials in them."""
    try:
        yield
    except (FileNotFoundError, StoreError):
        raise
    except ModuleNotFoundError:
        reason = "obstore is not installed, which reads object stores: pip install 'republish[stores]'"
    except Exception as error:  # noqa: BLE001 - each store, and each credential, has errors of its own
        reason = (
            f"the store can't be used ({type(error).__name__}). Credentials, region and endpoint are looked"
            " for in the environment, in profiles and in the machine's role: see to it that they are there"
        )
    else:
        return
    raise StoreError(f"{address}: {reason}") from None
