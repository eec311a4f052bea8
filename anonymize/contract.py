"""What a data product declares. Parsed once, validated at construction, read-only ever after."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from anonymize.errors import ContractError

Number = StrictInt | StrictFloat


class Declaration(BaseModel):
    """A part of a contract: unknown keys are faults, nothing changes after construction."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class NumberAttribute(Declaration):
    """A numeric quasi-identifier, published as an interval of numbers."""

    kind: Literal["number"]
    """`number`"""
    name: StrictStr
    """The snapshot's column."""
    domain: tuple[Number, Number]
    """Lowest and highest value there can be. Two whole numbers make a whole-number attribute."""
    min_width: Number = 0
    """The narrowest interval that may be published: values covered if whole-number, else length."""

    @property
    def discrete(self) -> bool:
        return all(isinstance(bound, int) for bound in self.domain)

    @property
    def dtype(self) -> pl.DataType:
        return pl.Int64() if self.discrete else pl.Float64()

    @model_validator(mode="after")
    def _check(self) -> NumberAttribute:
        _check_range(self.domain)
        _check_width(self.min_width, self.domain[1] - self.domain[0] + self.discrete)
        if self.discrete and not isinstance(self.min_width, int):
            raise ValueError("min_width must be a whole number, as the domain's bounds are")
        return self


class DateAttribute(Declaration):
    """A date quasi-identifier, published as an interval of dates."""

    kind: Literal["date"]
    """`date`"""
    name: StrictStr
    """The snapshot's column."""
    domain: tuple[dt.date, dt.date]
    """Earliest and latest date there can be."""
    min_width: StrictInt = 0
    """The narrowest interval that may be published, in days covered."""

    discrete = property(lambda self: True)
    dtype = property(lambda self: pl.Date())

    @model_validator(mode="after")
    def _check(self) -> DateAttribute:
        _check_range(self.domain)
        _check_width(self.min_width, (self.domain[1] - self.domain[0]).days + 1)
        return self


class CategoryAttribute(Declaration):
    """A categorical quasi-identifier, published as an interval of its ordered labels."""

    kind: Literal["category"]
    """`category`"""
    name: StrictStr
    """The snapshot's column."""
    order: tuple[StrictStr, ...] | None = None
    """The labels, in the order in which intervals are formed."""
    hierarchy: tuple[tuple[StrictStr, ...], ...] | None = None
    """One path `leaf, parent, …, root` per label; the leaves from left to right are the order."""
    min_width: StrictInt = 0
    """The fewest labels an interval may cover."""

    discrete = property(lambda self: True)
    dtype = property(lambda self: pl.String())

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of their codes 0, 1, …"""
        return self.order or tuple(path[0] for path in self.hierarchy)

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _read_hierarchy(cls, declared: Any, info: ValidationInfo) -> Any:
        """A hierarchy named by its file is read by whoever may read files (the validation context)."""
        if isinstance(declared, str):
            read = (info.context or {}).get("read_hierarchy")
            if read is None:
                raise ValueError(f"names a file ({declared}), and there are no files here: give the paths")
            return read(declared)
        return declared

    @model_validator(mode="after")
    def _check(self) -> CategoryAttribute:
        if (self.order is None) == (self.hierarchy is None):
            raise ValueError("needs either order (a list of labels) or hierarchy (a CSV file), not both")
        if not self.labels:
            raise ValueError("needs at least one label")
        if twice := _repeated(self.labels):
            raise ValueError(f"lists {twice} more than once")
        if self.hierarchy is not None:
            _check_hierarchy(self.hierarchy)
        _check_width(self.min_width, len(self.labels))
        return self


QuasiIdentifier = Annotated[NumberAttribute | DateAttribute | CategoryAttribute, Field(discriminator="kind")]


class Sensitive(Declaration):
    """The attribute nobody may learn about a person."""

    name: StrictStr
    """The snapshot's column."""
    values: tuple[Any, ...] | None = None
    """The domain. Without it, any text or whole number is a value."""
    semantics: Literal["persistent", "transient"] = "persistent"
    """Whether a person's value stays (a chronic disease) or comes and goes (this quarter's diagnosis)."""

    @model_validator(mode="after")
    def _check(self) -> Sensitive:
        if self.values is not None and (twice := _repeated(self.values)):
            raise ValueError(f"values lists {twice} more than once")
        return self

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if values is not None and {type(value) for value in values} not in ({str}, {int}):
            raise ValueError(
                "must be all text or all whole numbers, and at least one (yes and no need quotes)"
            )
        return values


class MInvariance(Declaration):
    """m-invariance: candidate sets that intersect over all releases keep at least m values."""

    name: Literal["m_invariance"]
    """`m_invariance`"""
    m: StrictInt
    """Nobody's value is learnt with a confidence above 1/m. At least 2."""
    on_ineligible: Literal["refuse", "counterfeit", "defer"] = "refuse"
    """When more than 1/m of the inserted people share a value: refuse the release, add the fewest
    counterfeits, or hold back the fewest people until the next release."""
    on_value_change: Literal["separate", "refuse"] = "separate"
    """When a person's value leaves their signature: a new, disjoint signature, or no release."""

    @field_validator("m")
    @classmethod
    def _check_m(cls, m: int) -> int:
        if m < 2:
            raise ValueError(f"m ({m}) must be at least 2")
        return m


Principle = Annotated[MInvariance, Field(discriminator="name")]


class FileSource(Declaration):
    """Snapshots that arrive as files."""

    path: StrictStr
    """A .parquet or .csv file for each release, with `{release}` in its name; relative to the contract."""

    @field_validator("path")
    @classmethod
    def _check_path(cls, path: str) -> str:
        if "{release}" not in path:
            raise ValueError("needs {release} in it: each release has a snapshot of its own")
        if not path.endswith((".parquet", ".csv")):
            raise ValueError("must end in .parquet or .csv")
        return path


class QuerySource(Declaration):
    """Snapshots that a database answers with."""

    dsn: StrictStr
    """`duckdb:///file` (relative to the contract) or `postgresql://user@host/database`."""
    query: StrictStr
    """One SELECT; `:release` in it stands for the release's date."""

    @field_validator("dsn")
    @classmethod
    def _check_dsn(cls, dsn: str) -> str:
        if not dsn.startswith(("duckdb:///", "postgresql://")):
            raise ValueError("must start with duckdb:/// or postgresql://")
        return dsn


class Releases(Declaration):
    """When releases are due."""

    first: dt.date
    """The date of the first release."""
    cron: StrictStr
    """The schedule; each tick from `first` on is a release, named by its date."""


class Contract(Declaration):
    """One data product: what is published, when, and what nobody may learn from it."""

    product: Annotated[StrictStr, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    """The product's name: small letters, digits and _, beginning with a letter."""
    series: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    """A chain of releases that are private together; a new series starts a new, separate chain."""
    description: StrictStr = ""
    """What the table is, for the catalogue."""
    owners: tuple[StrictStr, ...] = ()
    """E-mail addresses, or `team:name`."""
    source: FileSource | QuerySource
    """Where snapshots come from."""
    releases: Releases
    """When releases are due."""
    identifier: StrictStr
    """The column that tells people apart; never published."""
    quasi_identifiers: Annotated[tuple[QuasiIdentifier, ...], Field(min_length=1)]
    """What others may know about a person, published as intervals."""
    sensitive: Sensitive
    """What nobody may learn about a person."""
    principle: Principle
    """What is promised, and its parameters."""
    keep_private: Literal["all"] | Annotated[StrictInt, Field(ge=1)] = "all"
    """Private folders older than the last N published releases are deleted; `all` keeps them."""

    @field_validator("source", mode="wrap")
    @classmethod
    def _file_or_query(cls, declared: Any, _handler: Any) -> FileSource | QuerySource:
        """A source with a dsn or a query is a query: so that its faults are told of one kind alone."""
        if isinstance(declared, FileSource | QuerySource):
            return declared
        is_query = isinstance(declared, Mapping) and bool({"dsn", "query"} & set(declared))
        return (QuerySource if is_query else FileSource).model_validate(declared)

    @field_validator("owners")
    @classmethod
    def _check_owners(cls, owners: tuple[str, ...]) -> tuple[str, ...]:
        for owner in owners:
            if not owner.startswith("team:") and "@" not in owner:
                raise ValueError(f"{owner} must be an e-mail address or team:name")
        return owners

    @model_validator(mode="after")
    def _check(self) -> Contract:
        names = [self.identifier, *(qi.name for qi in self.quasi_identifiers), self.sensitive.name]
        if twice := _repeated(names):
            raise ValueError(f"the column {twice} has more than one role")
        published = [f"{qi.name}_{end}" for qi in self.quasi_identifiers for end in ("low", "high")]
        taken = {*published, "group_id"} & {self.sensitive.name, self.identifier}
        if taken:
            raise ValueError(f"the column {sorted(taken)[0]} bears the name of a published column")
        values = self.sensitive.values
        if values is not None and len(values) < self.principle.m:
            raise ValueError(
                f"sensitive.values lists {len(values)} values; m ({self.principle.m}) needs at least m of them"
            )
        return self

    @property
    def columns(self) -> list[str]:
        """The snapshot's columns the product uses: identifier, quasi-identifiers, sensitive."""
        return [self.identifier, *(qi.name for qi in self.quasi_identifiers), self.sensitive.name]

    def privacy_digest(self) -> str:
        """SHA-256 (hex) of everything that bears on privacy: columns, domains, values, principle."""
        parts = {"identifier", "quasi_identifiers", "sensitive", "principle"}
        declared = self.model_dump(mode="json", include=parts)
        return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()


def parse_contract(
    declared: Any, *, where: str = "contract", context: Mapping[str, Any] | None = None
) -> Contract:
    """The contract a mapping declares (as read from YAML), or all of its faults at once.

    Parameters
    ----------
    declared
        What the YAML file holds.
    where
        The file's name, for the error.
    context
        `read_hierarchy`: a function from a file's name to paths `(leaf, parent, …, root)`.

    Raises
    ------
    ContractError
        Naming every fault with its key and what is accepted.
    """
    if not isinstance(declared, Mapping):
        raise ContractError(where, [("", "must be a mapping of keys (product, series, source, …)")])
    try:
        return Contract.model_validate(declared, context=dict(context or {}))
    except ValidationError as error:
        raise ContractError(where, [_fault(declared, fault) for fault in error.errors()]) from None


_REWORDED = {
    "missing": "is missing",
    "extra_forbidden": "is not a key of a contract",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping of keys",
    "union_tag_not_found": "needs {discriminator} to say which",
}


def _fault(declared: Mapping, fault: Mapping) -> tuple[str, str]:
    """A pydantic error as `(key, what is wrong and what is accepted)`, in a publisher's words."""
    key = _key(declared, fault["loc"])
    context = fault.get("ctx") or {}
    if fault["type"] == "union_tag_invalid":
        discriminator = context["discriminator"].strip("'")
        return f"{key}.{discriminator}", f"{context['tag']} is unknown; accepted: {context['expected_tags']}"
    if fault["type"] == "literal_error":
        return key, f"{fault['input']} is unknown; accepted: {context['expected']}"
    if fault["type"] == "string_pattern_mismatch":
        return key, f"{fault['input']} does not match {context['pattern']}"
    if fault["type"] == "extra_forbidden":
        accepted = ", ".join(_accepted(fault["loc"]))
        return key, "is unknown" + (f"; accepted: {accepted}" if accepted else "")
    message = _REWORDED.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    return key, message.replace("{discriminator}", str(context.get("discriminator")))


def _key(declared: Any, loc: Sequence[str | int]) -> str:
    """`quasi_identifiers[age].domain` for a location in the mapping; union branches are left out."""
    key, at = "", declared
    for step in loc:
        if isinstance(step, int):
            at = at[step] if isinstance(at, Sequence) and step < len(at) else None
            name = at.get("name") if isinstance(at, Mapping) else None
            key += f"[{name or step}]"
        elif isinstance(at, Mapping) and step not in at and step in _BRANCHES:
            continue
        elif not isinstance(at, Mapping) and not (at is None):
            continue
        else:
            key += f".{step}" if key else step
            at = at.get(step) if isinstance(at, Mapping) else None
    return key


_PARTS = {
    "FileSource": FileSource,
    "QuerySource": QuerySource,
    "number": NumberAttribute,
    "date": DateAttribute,
    "category": CategoryAttribute,
    "m_invariance": MInvariance,
    "sensitive": Sensitive,
    "releases": Releases,
}
_BRANCHES = {"number", "date", "category", "m_invariance", "FileSource", "QuerySource"}


def _accepted(loc: Sequence[str | int]) -> list[str]:
    """The keys accepted where an unknown one was found."""
    if len(loc) == 1:
        return list(Contract.model_fields)
    part = next((_PARTS[step] for step in reversed(loc[:-1]) if step in _PARTS), None)
    return list(part.model_fields) if part else []


def _check_range(domain: tuple) -> None:
    low, high = domain
    if not low <= high:
        raise ValueError(f"domain must go from the lowest to the highest value, not from {low} to {high}")
    if isinstance(low, float | int) and not (abs(low) < 2**53 and abs(high) < 2**53):
        raise ValueError("domain must be finite and within 2^53")


def _check_width(min_width: float, widest: float) -> None:
    if not 0 <= min_width <= widest:
        raise ValueError(f"min_width ({min_width}) must be between 0 and the domain's width ({widest})")


def _check_hierarchy(paths: Sequence[Sequence[str]]) -> None:
    if len({len(path) for path in paths}) != 1:
        raise ValueError("hierarchy: every line must have the same number of levels")
    if len({path[-1] for path in paths}) != 1:
        raise ValueError("hierarchy: every line must end in the same root")
    parents: dict[tuple[int, str], Sequence[str]] = {}
    for path in paths:
        for level, node in enumerate(path):
            if tuple(parents.setdefault((level, node), path[level:])) != tuple(path[level:]):
                raise ValueError(f"hierarchy: {node} has more than one parent")


def _repeated(names: Sequence) -> Any:
    """The first name that occurs twice, or None."""
    seen = set()
    return next((name for name in names if name in seen or seen.add(name)), None)
