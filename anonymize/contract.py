"""What a data product declares. Parsed once, validated at construction, read-only ever after."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import polars as pl
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
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


def _number(declared: Any) -> Any:
    if type(declared) not in (int, float) or not abs(declared) < 2**53:
        raise ValueError(f"must be a number within 2^53, not {_shown(declared)}")
    return declared


def _date(declared: Any) -> Any:
    """A date, or its text; never a number, which pydantic would take for seconds since 1970."""
    if isinstance(declared, str):
        try:
            return dt.datetime.strptime(declared, "%Y-%m-%d").date()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            pass
    if type(declared) is not dt.date:
        raise ValueError(f"must be a date, YYYY-MM-DD, not {_shown(declared)}")
    return declared


def _label(declared: Any) -> Any:
    if declared == "":
        raise ValueError("must not be empty")
    if isinstance(declared, str):
        return declared
    raise ValueError(f"must be text, not {_shown(declared)}: write it in quotes")


def _pair(declared: Any) -> Any:
    if not isinstance(declared, list | tuple) or len(declared) != 2:
        raise ValueError(f"must be a list of two, [lowest, highest], not {_shown(declared)}")
    return declared


def _ascending(domain: tuple) -> tuple:
    low, high = domain
    if low > high:
        raise ValueError(f"must go from the lowest to the highest value, not from {low} to {high}")
    return domain


Number = Annotated[StrictInt | StrictFloat, BeforeValidator(_number)]
Date = Annotated[dt.date, BeforeValidator(_date)]
Label = Annotated[StrictStr, BeforeValidator(_label)]
NumberDomain = Annotated[tuple[Number, Number], BeforeValidator(_pair), AfterValidator(_ascending)]
DateDomain = Annotated[tuple[Date, Date], BeforeValidator(_pair), AfterValidator(_ascending)]


OWN_COLUMNS = {"bucket_id", "change", "count", "group_id", "moved", "pseudonym"}
"""What republish calls the columns that it puts beside the contract's."""


class Declaration(BaseModel):
    """A part of a contract: unknown keys are faults, nothing changes after construction."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class NumberAttribute(Declaration):
    """A numeric quasi-identifier, published as an interval of numbers."""

    kind: Literal["number"]
    """`number`"""
    name: Label
    """The snapshot's column."""
    domain: NumberDomain
    """Lowest and highest value there can be. Two whole numbers make a whole-number attribute."""
    min_width: Number = 0
    """The narrowest interval that may be published: values covered if whole-number, else length."""

    @property
    def discrete(self) -> bool:
        return all(isinstance(bound, int) for bound in self.domain)

    @property
    def dtype(self) -> pl.DataType:
        return pl.Int64() if self.discrete else pl.Float64()

    @field_validator("min_width")
    @classmethod
    def _check_min_width(cls, min_width: float, info: ValidationInfo) -> float:
        if "domain" not in info.data:
            return min_width
        low, high = info.data["domain"]
        discrete = isinstance(low, int) and isinstance(high, int)
        if discrete and not isinstance(min_width, int):
            raise ValueError(f"must be a whole number, as the domain's bounds are, not {min_width}")
        return _check_width(min_width, high - low + discrete)


class DateAttribute(Declaration):
    """A date quasi-identifier, published as an interval of dates."""

    kind: Literal["date"]
    """`date`"""
    name: Label
    """The snapshot's column."""
    domain: DateDomain
    """Earliest and latest date there can be."""
    min_width: StrictInt = 0
    """The narrowest interval that may be published, in days covered."""

    discrete = property(lambda _: True)
    dtype = property(lambda _: pl.Date())

    @field_validator("min_width")
    @classmethod
    def _check_min_width(cls, min_width: int, info: ValidationInfo) -> int:
        if "domain" not in info.data:
            return min_width
        low, high = info.data["domain"]
        return _check_width(min_width, (high - low).days + 1)


class CategoryAttribute(Declaration):
    """A categorical quasi-identifier, published as an interval of its ordered labels."""

    kind: Literal["category"]
    """`category`"""
    name: Label
    """The snapshot's column."""
    order: tuple[Label, ...] | None = None
    """The labels, in the order in which intervals are formed."""
    hierarchy: Annotated[tuple[tuple[Label, ...], ...] | None, Field(validate_default=True)] = None
    """One path `leaf, parent, …, root` per label; the tree's leaves from left to right are the order."""
    min_width: StrictInt = 0
    """The fewest labels an interval may cover."""

    discrete = property(lambda _: True)
    dtype = property(lambda _: pl.String())

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of their codes, which begin with 0."""
        return self.order or tuple(path[0] for path in self.hierarchy)

    @field_validator("order")
    @classmethod
    def _check_order(cls, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if order is not None and not order:
            raise ValueError("needs at least one label")
        if order is not None and (twice := _repeated(order)):
            raise ValueError(f"lists {twice} more than once")
        return order

    @field_validator("hierarchy", mode="wrap")
    @classmethod
    def _read_hierarchy(cls, declared: Any, validate: Callable, info: ValidationInfo) -> Any:
        """A hierarchy named by its file is read by whoever may read files (the validation context)."""
        if "order" in info.data and (declared is None) == (info.data["order"] is None):
            raise ValueError("give either order (a list of labels) or hierarchy (a CSV file), one of the two")
        if declared is None:
            return None
        paths = declared
        if isinstance(declared, str):
            read = (info.context or {}).get("read_hierarchy")
            if read is None:
                raise ValueError(f"names a file ({declared}), and there are no files here: give the paths")
            paths = read(declared)
        try:
            return _check_hierarchy(validate(paths))
        except ValueError as error:
            if isinstance(error, ValidationError) or not isinstance(declared, str):
                raise
            raise ValueError(f"{declared}, {error}") from None

    @field_validator("min_width")
    @classmethod
    def _check_min_width(cls, min_width: int, info: ValidationInfo) -> int:
        order, hierarchy = info.data.get("order"), info.data.get("hierarchy")
        if not (order or hierarchy):
            return min_width
        return _check_width(min_width, len(order or hierarchy))


QuasiIdentifier = Annotated[NumberAttribute | DateAttribute | CategoryAttribute, Field(discriminator="kind")]


class Sensitive(Declaration):
    """The attribute nobody may learn about a person."""

    name: Label
    """The snapshot's column."""
    values: tuple[Any, ...] | None = None
    """The domain. Without it, any text or whole number is a value."""
    semantics: Literal["persistent", "transient"] = "persistent"
    """Whether a person's value stays (a chronic disease) or comes and goes (this quarter's diagnosis)."""

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if values is None:
            return None
        if {type(value) for value in values} not in ({str}, {int}):
            raise ValueError("must be all text or all whole numbers, and at least one value")
        if twice := _repeated(values):
            raise ValueError(f"lists {twice} more than once")
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


class EEquivalence(MInvariance):
    """e-equivalence: m-invariance, and nobody learns that fewer than e people share values with e others."""

    name: Literal["e_equivalence"]
    """`e_equivalence`"""
    e: StrictInt
    """No two sets of fewer than e people are known to have the same values. At least 2."""

    @field_validator("e")
    @classmethod
    def _check_e(cls, e: int) -> int:
        if e < 2:
            raise ValueError(
                f"e ({e}) must be at least 2: with less, any two people may be known to share a value"
            )
        return e


Principle = Annotated[MInvariance | EEquivalence, Field(discriminator="name")]


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

    first: Date
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
    identifier: Label
    """The column that tells people apart; never published."""
    quasi_identifiers: tuple[QuasiIdentifier, ...]
    """What others may know about a person, published as intervals."""
    sensitive: Sensitive
    """What nobody may learn about a person."""
    principle: Principle
    """What is promised, and its parameters."""
    keep_private: Literal["all"] | StrictInt = "all"
    """Private folders older than the last N published releases are deleted; `all` keeps them."""

    @field_validator("source", mode="wrap")
    @classmethod
    def _file_or_query(cls, declared: Any, _validate: Callable) -> FileSource | QuerySource:
        if isinstance(declared, FileSource | QuerySource):
            return declared
        return (QuerySource if _is_query(declared) else FileSource).model_validate(declared)

    @field_validator("owners")
    @classmethod
    def _check_owners(cls, owners: tuple[str, ...]) -> tuple[str, ...]:
        for owner in owners:
            if not owner.startswith("team:") and "@" not in owner:
                raise ValueError(f"{owner} must be an e-mail address or team:name")
        return owners

    @field_validator("quasi_identifiers", mode="before")
    @classmethod
    def _check_quasi_identifiers(cls, declared: Any) -> Any:
        if not isinstance(declared, list | tuple) or not declared:
            raise ValueError("must be a list of at least one column, {name: …, kind: …}")
        return declared

    @field_validator("principle")
    @classmethod
    def _check_values_suffice(cls, principle: Principle, info: ValidationInfo) -> Principle:
        sensitive = info.data.get("sensitive")
        if sensitive and sensitive.values is not None and len(sensitive.values) < principle.m:
            raise ValueError(
                f"m ({principle.m}) needs as many sensitive values, and sensitive.values lists "
                f"{len(sensitive.values)}"
            )
        return principle

    @field_validator("keep_private", mode="before")
    @classmethod
    def _check_keep_private(cls, declared: Any) -> Any:
        if declared != "all" and (type(declared) is not int or declared < 1):
            raise ValueError(f"must be all, or a whole number of releases from 1 on, not {_shown(declared)}")
        return declared

    @model_validator(mode="after")
    def _check_roles(self) -> Contract:
        names = [qi.name for qi in self.quasi_identifiers]
        if fault := _role_fault(self.identifier, names, self.sensitive.name):
            raise ValueError(fault)
        if isinstance(self.principle, EEquivalence):
            _check_anatomy(self)
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
        raise ContractError(where, _faults(declared, error)) from None


def _faults(declared: Mapping, error: ValidationError) -> list[tuple[str, str]]:
    """Every fault of a contract; those between columns also where a column has a fault of its own."""
    faults = [_fault(declared, fault) for fault in error.errors()]
    between = ("", _role_fault(*_declared_names(declared)))
    return faults if between[1] is None or between in faults else [*faults, between]


_REWORDED = {
    "missing": "is missing",
    "string_type": "must be text: write {input} in quotes",
    "int_type": "must be a whole number, not {input}",
    "tuple_type": "must be a list, not {input}",
    "model_type": "must be a mapping of keys, not {input}",
    "model_attributes_type": "must be a mapping of keys, not {input}",
    "invalid_key": "is unknown: keys are text",
    "union_tag_not_found": "{discriminator} is missing; accepted: {tags}",
    "union_tag_invalid": "{tag} is unknown; accepted: {tags}",
    "literal_error": "{input} is unknown; accepted: {expected}",
    "string_pattern_mismatch": "{input} is not accepted; it must match {pattern}",
    "extra_forbidden": "is unknown; accepted: {keys}",
}


def _fault(declared: Mapping, fault: Mapping) -> tuple[str, str]:
    """A pydantic error as `(key, what is wrong and what is accepted)`, in a publisher's words."""
    kind, location, context = fault["type"], fault["loc"], fault.get("ctx") or {}
    key = _key(declared, location)
    if kind == "union_tag_invalid":
        key += f".{context['discriminator'].strip(chr(39))}"
    if kind not in _REWORDED:
        return key, fault["msg"].removeprefix("Value error, ")
    words = {
        "input": _shown(fault["input"]),
        "discriminator": str(context.get("discriminator")).strip("'"),
        "tag": context.get("tag"),
        "tags": ", ".join(_PRINCIPLES if location[0] == "principle" else _KINDS),
        "expected": str(context.get("expected")).replace("'", "").replace(" or ", ", "),
        "pattern": context.get("pattern"),
        "keys": ", ".join(_part(declared, location).model_fields),
    }
    return key, _REWORDED[kind].format_map(words)


def _key(declared: Any, location: Sequence[str | int]) -> str:
    """`quasi_identifiers[age].domain` for a location in the mapping; union branches are left out."""
    key, at = "", declared
    branch = {("quasi_identifiers",): 2, ("principle",): 1}.get(tuple(location[:1]), len(location))
    for step in (*location[:branch], *location[branch + 1 :]):
        if isinstance(step, int):
            at = at[step] if isinstance(at, Sequence) and step < len(at) else None
            key += f"[{_name(at) or step}]"
        else:
            at = at.get(step) if isinstance(at, Mapping) else None
            key += f".{step}" if key else step
    return key


def _variants(union: Any, tag: str) -> dict[str, type[Declaration]]:
    """The parts that a tagged union is one of, by their tags."""
    members = get_args(union)[0]
    return {get_args(part.model_fields[tag].annotation)[0]: part for part in get_args(members) or (members,)}


_KINDS = _variants(QuasiIdentifier, "kind")
_PRINCIPLES = _variants(Principle, "name")


def _part(declared: Mapping, location: Sequence[str | int]) -> type[Declaration]:
    """The part of the contract that a location of one of its keys lies in."""
    branches = [step for step in location[:-1] if step in _KINDS | _PRINCIPLES]
    if branches:
        return (_KINDS | _PRINCIPLES)[branches[0]]
    source = QuerySource if _is_query(declared.get("source")) else FileSource
    parts = {"source": source, "releases": Releases, "sensitive": Sensitive}
    return parts.get(location[0], Contract) if len(location) > 1 else Contract


def _is_query(source: Any) -> bool:
    """A source with a dsn or a query is a query: so that its faults are told of one kind alone."""
    return isinstance(source, Mapping) and bool({"dsn", "query"} & set(source))


def _role_fault(
    identifier: str | None, quasi_identifiers: Sequence[str], sensitive: str | None
) -> str | None:
    """What is wrong between columns that are each right, or None."""
    if twice := _repeated([name for name in (identifier, *quasi_identifiers, sensitive) if name is not None]):
        return f"the column {twice} has more than one role: identifier, quasi-identifier or sensitive"
    published = {f"{name}_{end}" for name in quasi_identifiers for end in ("low", "high")}
    if taken := (published & {identifier, sensitive}) | (
        OWN_COLUMNS & {*quasi_identifiers, identifier, sensitive}
    ):
        return (
            f"the column {min(taken)} bears the name of a column of republish's own: rename it in the source"
        )
    return None


def _check_anatomy(contract: Contract) -> None:
    """Refuse what can't be kept where exact quasi-identifiers are published, in tables with other columns."""
    wide = [qi.name for qi in contract.quasi_identifiers if qi.min_width > int(qi.discrete)]
    if wide:
        raise ValueError(
            f"min_width of {', '.join(wide)} can't be kept: {contract.principle.name} publishes exact"
            " quasi-identifiers. Leave it out, or make the column coarser in the source"
        )


def _declared_names(declared: Mapping) -> tuple[str | None, list[str], str | None]:
    """Identifier, quasi-identifiers and sensitive column as far as a faulty contract names them."""
    attributes = declared.get("quasi_identifiers")
    names = [_name(attribute) for attribute in attributes] if isinstance(attributes, list | tuple) else []
    identifier = declared.get("identifier")
    return (
        identifier if isinstance(identifier, str) else None,
        [name for name in names if name is not None],
        _name(declared.get("sensitive")),
    )


def _name(part: Any) -> str | None:
    name = part.get("name") if isinstance(part, Mapping) else None
    return name if isinstance(name, str) else None


def _shown(declared: Any) -> str:
    """What was declared, as a contract writes it and short enough for a line."""
    words = {None: "nothing", True: "true", False: "false", "": "empty text"}
    if declared is None or isinstance(declared, bool | str):
        text = words.get(declared, str(declared))
    else:
        text = repr(declared).replace("'", "")
    return text if len(text) <= 40 else f"{text[:39]}…"


def _check_width(min_width: float, widest: float) -> float:
    if not 0 <= min_width <= widest:
        raise ValueError(f"must be between 0 and the domain's width ({widest}), not {min_width}")
    return min_width


def _check_hierarchy(paths: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The paths from the tree's left to its right, if they are one tree with leaves all equally deep."""
    if not paths:
        raise ValueError("holds no labels")
    first_lines: dict[tuple[int, str], tuple[int, tuple[str, ...]]] = {}
    for line, path in enumerate(paths, start=1):
        if len(path) != len(paths[0]):
            raise ValueError(f"line {line}: has {len(path)} levels, line 1 has {len(paths[0])}")
        if path[-1] != paths[0][-1]:
            raise ValueError(f"line {line}: ends in the root {path[-1]}, line 1 in {paths[0][-1]}")
        for level, node in enumerate(path):
            before, above = first_lines.setdefault((level, node), (line, path[level:]))
            if level == 0 and before != line:
                raise ValueError(f"line {line}: {node} is in line {before} already")
            if above != path[level:]:
                raise ValueError(f"line {line}: {node} has another parent than in line {before}")
    return _from_left_to_right(paths)


def _from_left_to_right(paths: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The paths with siblings side by side, in the order in which each part of the tree is first named.

    A file may name its leaves in any order; intervals are tight only where neighbours are relatives.
    """
    named: dict[tuple[str, ...], int] = {}
    for path in paths:
        for level in range(len(path)):
            named.setdefault(path[level:], len(named))
    return tuple(
        sorted(paths, key=lambda path: [named[path[level:]] for level in reversed(range(len(path)))])
    )


def _repeated(names: Sequence) -> Any:
    """The first name that occurs twice, or None."""
    seen = set()
    return next((name for name in names if name in seen or seen.add(name)), None)
