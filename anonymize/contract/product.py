"""The declarations that every data product makes, whatever the shape of its table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Generic, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializeAsAny,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from republish.anonymize.contract.expect import FREE_TEXT, OWN_VALUES, Expect
from republish.anonymize.contract.parameters import P_co, Parameters, read_parameters
from republish.anonymize.contract.retention import Retention
from republish.anonymize.contract.scalars import (
    Declaration,
    WordedColumn,
    Words,
    check_releases,
    repeated,
    shown,
)
from republish.anonymize.contract.schema import Table
from republish.anonymize.contract.source import (
    FileSource,
    QuerySource,
    Releases,
    TableSource,
    checked_place,
    is_in_store,
    kind_of_source,
)

LONGEST_NAME = 100
"""Letters in the name of a product or series: they are names of folders and of Dagster's jobs."""
MOST_SHARDS = 10_000
ASSET_KEY = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
OWNER = re.compile(r"team:.+|[^@\s]+@[^@\s]+\.[^@\s]+")

SamePeople = Literal["separate_readers", "each_by_itself", "other_people"]
"""How a product stands to another one of its home: nobody gets releases of both; somebody may, and each
promise is about its own releases by themselves; or the identifiers there are other people's."""


def _short(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise ValueError(f"must have at most {LONGEST_NAME} letters, not {len(name)}")
    return name


def without_words(declared: Mapping[str, Any]) -> dict[str, Any]:
    """A declared table, as JSON, without what its columns tell readers: units and descriptions.

    Parameters
    ----------
    declared
        `quasi_identifiers` and `sensitive`, or `columns`; other keys stay as they are.
    """
    worded = ("quasi_identifiers", "columns", "sensitive")
    return {
        key: _without(part, WordedColumn.model_fields) if key in worded else part
        for key, part in declared.items()
    }


def _without(part: Any, keys: Iterable[str]) -> Any:
    """A column, or each column of a list, without some of its keys."""
    if isinstance(part, list):
        return [_without(one, keys) for one in part]
    return {key: value for key, value in part.items() if key not in keys}


class Acceptance(Declaration):
    """Things accepted of one release although they are not ordinary, and who answers for that."""

    what: tuple[StrictStr, ...]
    """What is accepted, by name."""
    by: Words | None = None
    """Who accepted it."""
    because: Words | None = None
    """Why it is right."""


def _acceptance(declared: Any) -> Any:
    """A list of names alone is what is accepted."""
    if not isinstance(declared, list | tuple | dict | Acceptance):
        raise ValueError(f"must be a list, not {shown(declared)}")  # noqa: TRY004 - pydantic's way
    return {"what": declared} if isinstance(declared, list | tuple) else declared


def _said(said: Mapping[str, Any], key: str) -> Any:
    first, _, second = key.partition(".")
    return getattr(said.get(first), second, None) if second else said.get(first)


def _in_store(place: str) -> str:
    if not is_in_store(place):
        raise ValueError("must be an address in an object store: s3://bucket/path, gs://… or az://…")
    return checked_place(place).rstrip("/")


class Governance(Declaration):
    """The people who answer for the releases, and why: for releases, reports and the record of processing."""

    controller: Words | None = None
    """Who decides why and how the people's data are processed (Article 4 No. 7 GDPR)."""
    purpose: Words | None = None
    """What the releases are for."""
    legal_basis: Words | None = None
    """What allows it: a law or a consent."""
    recipients: Words | None = None
    """Who gets the releases."""
    retention: Words | None = None
    """How long the table, the private folder and the releases are kept."""
    auditor: Words | None = None
    """Who audits the releases, unless the audit is told another name."""
    data_subjects: Words | None = None
    """Which people the table is about."""
    transfers: Words | None = None
    """To which countries outside of the law's area releases go, and what protects them there."""
    security: Words | None = None
    """The technical and organizational measures that protect the table and the private folder."""
    officer: Words | None = None
    """How to reach the data protection officer."""
    terms: Words | None = None
    """Terms of use that stand in each release; without it, those against re-identification do."""


def _address(declared: str) -> str:
    if not re.fullmatch(r"https?://[^\s<>\"{}|\\^`]+", declared):
        raise ValueError(f"must be a web address, https://…, not {shown(declared)}")
    return declared.rstrip("/")


Address = Annotated[StrictStr, AfterValidator(_address)]


class Catalogue(Declaration):
    """What a record in a catalogue of data needs beside the rest of the contract."""

    address: Address
    """Where the releases are found on the web: the address of the series' folder."""
    access: Literal["public", "restricted", "non_public"]
    """Who may get the releases."""
    health_categories: tuple[Address, ...] = ()
    """Categories of health data (Article 51 EHDS), by their addresses; with them, HealthDCAT-AP applies."""
    health_themes: tuple[Address, ...] = ()
    """Health topics of the table, by their addresses, of Wikidata say."""
    legislation: tuple[Address, ...] = ()
    """Laws that the releases are made under, by their addresses (ELI)."""
    access_body: Words | None = None
    """The health data access body that grants access."""
    population: Words | None = None
    """Which population the table covers."""
    min_typical_age: Annotated[StrictInt, Field(ge=0)] | None = None
    """The lowest age that is typical of the people; not that of anybody."""
    max_typical_age: Annotated[StrictInt, Field(ge=0)] | None = None
    """The highest age that is typical of the people; not that of anybody."""


IN_A_CATALOGUE = {
    "title": "what the releases are called",
    "description": "what the table is",
    "contact": "an e-mail or web address",
    "governance.controller": "the publisher",
}
"""Keys that a record of any catalogue needs, and what they say."""
IN_A_HEALTH_CATALOGUE = {
    "governance.legal_basis": "a law or a consent",
    "governance.purpose": "what the releases are for",
    "catalogue.health_themes": "addresses of topics",
    "catalogue.legislation": "addresses of laws",
}
"""Keys that HealthDCAT-AP needs as well, where `catalogue.health_categories` says that it applies."""


class Product(Table, Generic[P_co]):
    """One data product: what is published, when, and what is promised of it."""

    product: Annotated[StrictStr, Field(pattern=r"^[a-z][a-z0-9_]*$"), AfterValidator(_short)]
    """The product's name: small letters, digits and _, beginning with a letter."""
    series: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"), AfterValidator(_short)]
    """A chain of releases that keep one promise together. Another name begins another chain."""
    description: StrictStr = ""
    """What the table is, for the catalogue."""
    title: Words | None = None
    """What the releases are called, for their readers."""
    licence: Words | None = None
    """Under which terms a release may be used: an SPDX name (CC-BY-4.0), or a sentence."""
    contact: Words | None = None
    """Where readers of a release may ask: an e-mail or web address."""
    citation: Words | None = None
    """How readers are to cite a release."""
    governance: Governance = Governance()
    """What the report of an audit says of responsibility."""
    catalogue: Catalogue | None = Field(default=None, exclude_if=lambda declared: declared is None)
    """What catalogues of data need to know of the releases: each release then writes their records anew."""
    owners: tuple[StrictStr, ...] = ()
    """E-mail addresses, or `team:name`."""
    source: FileSource | QuerySource | TableSource
    """Where snapshots come from."""
    sources: dict[StrictStr, FileSource] = Field(default_factory=dict, exclude_if=lambda sources: not sources)
    """The keys of a source of files that change from a release on, by its date."""
    upstream: tuple[StrictStr, ...] = ()
    """Keys of Dagster's assets that snapshots are made from."""
    releases: Releases
    """When releases are due."""
    principle: SerializeAsAny[P_co]
    """What is promised, and its parameters."""
    expect: Expect = Expect()
    """What is ordinary: a snapshot or release outside of it is refused."""
    accept: dict[StrictStr, Annotated[Acceptance, BeforeValidator(_acceptance)]] = Field(default_factory=dict)
    """What is accepted of single releases although it is not ordinary, by the release's date."""
    supersedes: StrictStr | None = None
    """The series that this one goes on from: its signatures are carried over, and it can't be continued."""
    shards: Annotated[StrictInt, Field(ge=1, le=MOST_SHARDS)] = 1
    """Parts that the people are divided into, each a series of its own, so that one fits into memory."""
    separate_readers: StrictBool = False
    """Nobody gets releases both of this series and of another one of the same product."""
    same_people: dict[StrictStr, SamePeople] = Field(default_factory=dict)
    """Other products of the home that are about the same people, and why they may be released beside it."""
    published_to: Annotated[StrictStr, AfterValidator(_in_store)] | None = None
    """Where in an object store every release is put, too, before it counts as published."""
    keep_private: Literal["all"] | StrictInt = "all"
    """Private folders older than the last N published releases are deleted; `all` keeps them."""

    corrections: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    """Files that say which values were wrong so far, by the first release that has the right ones."""
    identifiers: dict[StrictStr, StrictStr] = Field(default_factory=dict, exclude_if=lambda files: not files)
    """Files that say which new identifier each old one became (`old`, `new`), by the first release that has
    the new ones. People are known by their first one."""
    retention: Retention | None = None
    """When people are forgotten whom the source has no more; without it, never."""

    def accepted(self, release: str) -> tuple[str, ...]:
        """Everything odd that is accepted of a release; of a column, from an earlier release on."""
        what = self.accept[release].what if release in self.accept else ()
        before = {word for earlier, one in self.accept.items() if earlier < release for word in one.what}
        return (*what, *sorted(before & {OWN_VALUES, FREE_TEXT}))

    def source_of(self, release: str) -> FileSource | QuerySource | TableSource:
        """Where the snapshot of a release comes from, and how it is written."""
        since = max((date for date in self.sources if date <= release), default=None)
        return self.source if since is None else self.sources[since]

    @property
    def table_schema(self) -> Table:
        """The columns and their roles, without what is promised of them."""
        raise NotImplementedError

    @field_validator("source", mode="wrap")
    @classmethod
    def _of_one_kind(cls, declared: Any, _validate: object) -> FileSource | QuerySource | TableSource:
        if isinstance(declared, FileSource | QuerySource | TableSource):
            return declared
        return kind_of_source(declared).model_validate(declared)

    @field_validator("sources", mode="before")
    @classmethod
    def _from_a_release_on(cls, declared: Any, info: ValidationInfo) -> Any:
        """Each one with the keys of the one before that it leaves out."""
        before = info.data.get("source")
        if not declared or not isinstance(declared, Mapping) or before is None:
            return declared
        if not isinstance(before, FileSource):
            why = "is for files: a query or a table says by itself what it answers of which release"
            raise ValueError(why)  # noqa: TRY004 - pydantic's way
        said, found = before.model_dump(exclude_unset=True), {}
        for release in sorted(map(str, declared)):
            one = declared[release]
            said = found[release] = {**said, **one} if isinstance(one, Mapping) else one
            if not isinstance(one, Mapping):
                break
        return found

    @field_validator("owners")
    @classmethod
    def _check_owners(cls, owners: tuple[str, ...]) -> tuple[str, ...]:
        for owner in owners:
            if not OWNER.fullmatch(owner):
                raise ValueError(f"{owner} must be an e-mail address or team:name")
        return owners

    @field_validator("upstream")
    @classmethod
    def _check_upstream(cls, upstream: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for key in upstream:
            if not ASSET_KEY.fullmatch(key):
                raise ValueError(
                    f"{shown(key)} is no asset key: write its parts with / between them, as in"
                    " warehouse/patients; each has letters, digits, _ . and -"
                )
            if key.split("/")[0] == info.data.get("product") and "/" in key:
                raise ValueError(f"{key} has this product's own prefix: name an asset that others make")
        if twice := repeated(upstream):
            raise ValueError(f"lists {twice} more than once")
        return upstream

    @field_validator("catalogue")
    @classmethod
    def _check_catalogue(cls, declared: Catalogue | None, info: ValidationInfo) -> Catalogue | None:
        if declared is None or "governance" not in info.data:
            return declared
        needed = dict(IN_A_CATALOGUE)
        if declared.health_categories:
            needed |= IN_A_HEALTH_CATALOGUE
            if declared.access == "non_public":
                needed["catalogue.access_body"] = "the health data access body"
        said = {**info.data, "catalogue": declared}
        missing = [key for key in needed if not _said(said, key)]
        if missing:
            keys = ", ".join(f"{key} ({needed[key]})" for key in missing)
            raise ValueError(f"needs {keys}, too. Write what is missing, or leave catalogue out")
        return declared

    @field_validator("accept", "corrections", "identifiers", "sources")
    @classmethod
    def _check_dates(cls, by_release: dict[str, Any]) -> dict[str, Any]:
        check_releases(by_release)
        return by_release

    @field_validator("principle", mode="wrap")
    @classmethod
    def _of_a_known_principle(cls, declared: Any, _validate: object, info: ValidationInfo) -> Parameters:
        if isinstance(declared, Parameters):
            return declared
        return read_parameters(declared, (info.context or {}).get("principles", {}))

    @field_validator("keep_private", mode="before")
    @classmethod
    def _check_keep_private(cls, declared: Any) -> Any:
        if declared != "all" and (type(declared) is not int or declared < 1):
            raise ValueError(f"must be all, or a whole number of releases from 1 on, not {shown(declared)}")
        return declared

    @model_validator(mode="after")
    def _check_series(self) -> Self:
        if self.supersedes == self.series:
            raise ValueError(f"supersedes: a series ({self.series}) can't go on from itself")
        if self.supersedes is not None and self.separate_readers:
            raise ValueError("give either supersedes or separate_readers, one of the two")
        if self.product in self.same_people:
            raise ValueError(
                f"same_people: {self.product} is this product itself, and for another series of it there are"
                " supersedes and separate_readers"
            )
        return self

    @model_validator(mode="after")
    def _check_guessed(self) -> Self:
        if self.expect.guessed is None:
            return self
        if self.sensitive is None:
            raise ValueError("expect.guessed: is for tables with a sensitive column; leave it out")
        if self.shards > 1:
            raise ValueError(
                "expect.guessed: is measured of all people together, and shards are attacked one by one:"
                " leave it out"
            )
        return self

    @model_validator(mode="after")
    def _check_moved(self) -> Self:
        names = {column.name for _, column in self.attributes()}
        if unknown := set(self.expect.moved) - names:
            listed = ", ".join(sorted(names))
            raise ValueError(f"expect.moved: {min(unknown)} is none of what others may know: {listed}")
        return self

    @model_validator(mode="after")
    def _check_source_columns(self) -> Self:
        for one in (self.source, *self.sources.values()):
            for key in ("columns", "names"):
                declared = getattr(one, key) if isinstance(one, FileSource) else {}
                if unknown := set(declared) - set(self.source_columns()):
                    why = f"source.{key}: names {min(unknown)}, which is no column of this contract"
                    raise ValueError(why)
        return self

    def privacy_digest(self) -> str:
        """SHA-256 (hex) of everything that bears on privacy: columns, domains, values, principle."""
        parts = {"identifier", "rows", "row", "quasi_identifiers", "sensitive", "columns", "principle"}
        declared = without_words(self.model_dump(mode="json", include=parts))
        cells = {one.name: getattr(one, "cells", None) for _, one in self.attributes()}
        declared |= {f"cells of {name}": starts for name, starts in cells.items() if starts is not None}
        return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()
