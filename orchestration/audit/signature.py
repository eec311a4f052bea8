"""A signed audit: a detached Ed25519 signature over the report and the manifests that it is about.

What is signed is a small JSON file, `audit.signed.json`, with the SHA-256 of each file of the report and of
each release's manifest. `audit.sig` has the 64 bytes of the signature over it. Any tool can check them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import AfterValidator, BaseModel, ValidationError

from republish.anonymize.errors import PublishedFolderError, SignatureError
from republish.orchestration.storage.manifest import MANIFEST, TABLES, is_release, release_folders
from republish.orchestration.storage.parts import files_of_tables, table_of
from republish.orchestration.storage.store import json_text, read_json, sha256, write_together

SIGNED, SIGNATURE = "audit.signed.json", "audit.sig"
PASSPHRASE_VARIABLE = "REPUBLISH_SIGN_PASSPHRASE"  # noqa: S105 - its name alone
FORMAT: Final = "republish signed audit 1"
MAKE_ONE = "make one with: openssl genpkey -algorithm ed25519 -out key.pem"
TAKE_PUBLIC = "take it from the private key with: openssl pkey -in key.pem -pubout -out key.pub"


def _file_name(name: str) -> str:
    """A name without a folder before it, but that of a table's parts."""
    if Path(name).name != name and table_of(name) not in TABLES:
        raise ValueError(f"{name}: is no file of a release or a report")
    return name


Digests = dict[Annotated[str, AfterValidator(_file_name)], str]
"""SHA-256 (hex) of files, by name."""


class AuditedRelease(BaseModel, frozen=True):
    """A release that a signed audit is about."""

    series: str
    release: str
    files: Digests
    """Its manifest, or each of its files where there is no manifest, as they were when they were attacked."""


class Statement(BaseModel, frozen=True):
    """What was signed. The auditor may have stated more in it, which is not looked at."""

    format: Literal["republish signed audit 1"]
    date: str
    auditor: str | None = None
    verdict: str
    key: str
    """The fingerprint of the auditor's public key."""
    report: Digests
    releases: list[AuditedRelease]


def load_private_key(file: Path) -> Ed25519PrivateKey:
    """The key that signs: Ed25519, PEM (PKCS8), with or without a passphrase.

    The passphrase is read from the environment variable `REPUBLISH_SIGN_PASSPHRASE`.

    Raises
    ------
    SignatureError
        If it can't be read or opened, or is another kind of key. The message never has a part of the key.
    """
    content = _read(file)
    if b"PUBLIC KEY" in content:
        raise SignatureError(f"{file}: is a public key, and signing takes the private one; {MAKE_ONE}")
    passphrase = None
    if b"ENCRYPTED" in content:
        passphrase = os.environ.get(PASSPHRASE_VARIABLE, "").encode()
        if not passphrase:
            raise SignatureError(f"{file}: has a passphrase: give it in {PASSPHRASE_VARIABLE}")
    try:
        key = serialization.load_pem_private_key(content, password=passphrase)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if passphrase:
            raise SignatureError(
                f"{file}: can't be opened with the passphrase in {PASSPHRASE_VARIABLE}"
            ) from None
        raise SignatureError(f"{file}: is no private key in PEM (PKCS8); {MAKE_ONE}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise SignatureError(f"{file}: is no Ed25519 key; {MAKE_ONE}")
    return key


def load_public_key(file: Path) -> Ed25519PublicKey:
    """The key that checks signatures: Ed25519, PEM.

    Raises
    ------
    SignatureError
        If it can't be read, or is another kind of key.
    """
    content = _read(file)
    if b"PRIVATE KEY" in content:
        raise SignatureError(
            f"{file}: is a private key: keep it to yourself, and give the public one; {TAKE_PUBLIC}"
        )
    try:
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise SignatureError(f"{file}: is no public key in PEM; {TAKE_PUBLIC}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise SignatureError(f"{file}: is no Ed25519 key; {TAKE_PUBLIC}")
    return key


def sign_report(
    folder: Path,
    key: Ed25519PrivateKey,
    report: Sequence[Path],
    releases: Sequence[Mapping[str, Any]],
    described: Mapping[str, Any],
) -> tuple[Path, Path]:
    """Sign a report and what it is about; returns the paths of what is signed and of the signature.

    Parameters
    ----------
    folder
        Where the report is.
    key
        The auditor's.
    report
        The files of the report, in the folder.
    releases
        Each audited release: `series`, `release`, and `files` with the SHA-256 (hex) of its manifest, or of
        each file where there is no manifest, as they were when they were attacked.
    described
        What else is signed in plain sight: `software`, `date`, `auditor`, `verdict`, ….
    """
    statement = {
        "format": FORMAT,
        **described,
        "key": fingerprint(key.public_key()),
        "report": {file.name: sha256(file) for file in report},
        "releases": list(releases),
    }
    content = json_text(statement).encode()
    signed, signature = write_together(folder, {SIGNED: content, SIGNATURE: key.sign(content)})
    return signed, signature


def nonce(key: Ed25519PrivateKey, releases: Sequence[Mapping[str, Any]]) -> str:
    """A secret for the `audit.json` of a report on these releases; the same one each time.

    What is signed shows that file's hash. By it, whoever guessed all the rest of the file, such as the hashes
    of small true tables, would find out that the guess is right.
    """
    return hmac.digest(key.private_bytes_raw(), json.dumps(releases).encode(), "sha256").hex()


def fingerprint(key: Ed25519PublicKey) -> str:
    """SHA-256 (hex) of a public key's DER encoding: what `openssl pkey -pubin -outform DER` writes."""
    encoded = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(encoded).hexdigest()


def verify_report(folder: Path, key: Ed25519PublicKey) -> tuple[Statement, list[str]]:
    """Check a signed report: its signature, and every file of it that is there.

    Returns what was signed, and the names of these files.

    Parameters
    ----------
    folder
        Has `audit.signed.json`, `audit.sig`, and the page of the report or all its figures, or both.
    key
        The auditor's public key.

    Raises
    ------
    SignatureError
        If the signature isn't this key's, a file was changed, or there is no report.
    """
    signed, signature = folder / SIGNED, folder / SIGNATURE
    for file in (signed, signature):
        if not file.is_file():
            raise SignatureError(
                f"{file}: is missing. Give the folder that republish audit --sign wrote as --report"
            )
    content = signed.read_bytes()
    try:
        key.verify(signature.read_bytes(), content)
    except InvalidSignature:
        raise SignatureError(
            f"{signature}: is no signature of {SIGNED} under this key (SHA-256 {fingerprint(key)}): what was"
            " signed was changed, or somebody else signed it"
        ) from None
    try:
        statement = Statement.model_validate(read_json(signed))
    except ValidationError:
        statement = None
    if statement is None or statement.key != fingerprint(key):
        raise SignatureError(f"{signed}: is signed, and not in the format {FORMAT}")
    found = [name for name in statement.report if (folder / name).is_file()]
    if not found:
        raise SignatureError(f"{folder}: has none of the report's files: {', '.join(statement.report)}")
    for name in found:
        if sha256(folder / name) != statement.report[name]:
            raise SignatureError(f"{folder / name}: was changed after it was signed (other SHA-256)")
    return statement, found


def verify_releases(published: Path, statement: Statement) -> tuple[list[str], list[str]]:
    """Check that published releases are those that a signed audit is about.

    Returns the names of these, and of the releases of the series that were published after all of them, which
    the audit says nothing of.

    Parameters
    ----------
    published
        A release, a series, or another tool's file or folder of files.
    statement
        What was signed (`verify_report`).

    Raises
    ------
    SignatureError
        If a release was audited with another manifest; if one is missing in a series; or if one was not
        audited and is alone, or in a series before the last one that was.
    """
    series, places = _places(published)
    audited = {
        one.release: one.files
        for one in statement.releases
        if one.series == series or (series is None and MANIFEST not in one.files)
    }
    named = ", ".join(sorted({f"{one.series} {one.release}" for one in statement.releases}))
    is_one = is_release(published) or published.is_file()
    since = [release for release in places if audited and not is_one and release > max(audited)]
    for release, place in places.items():
        if release in since:
            continue
        if release not in audited:
            raise SignatureError(
                f"{place}: was not audited; the signed report is about {named}. Check the audited releases"
                " one by one, or have this one audited"
            )
        for name, digest in audited[release].items():
            file = place / name if place.is_dir() else place
            if not file.is_file() or sha256(file) != digest:
                raise SignatureError(f"{file}: is not what was audited and signed (other SHA-256)")
    if not is_one and (missing := sorted(audited.keys() - places.keys())):
        raise SignatureError(f"{published / missing[0]}: was audited and signed, and is missing")
    return sorted(places.keys() - since), sorted(since)


def _places(published: Path) -> tuple[str | None, dict[str, Path]]:
    """The series of a folder, if manifests name it, and where each of its releases is."""
    if is_release(published):
        return _series(published), {published.resolve().name: published}
    if published.is_file():
        return None, {published.stem: published}
    if not published.is_dir():
        raise PublishedFolderError(f"{published}: there is no such file or folder")
    folders = release_folders(published)
    if folders and is_release(folders[0]):
        return _series(folders[0]), {path.name: path for path in folders}
    files = files_of_tables(published)
    return None, {path.stem: path for path in files} | {path.name: path for path in folders}


def _series(release: Path) -> str:
    manifest = read_json(release / MANIFEST) or {}
    return f"{manifest.get('product')}/{manifest.get('series')}"


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SignatureError(f"{file}: can't be read: {error.strerror}") from None
