"""Releases made by anything else: one row per person, intervals written in whatever way.

A short mapping file says which column is what. What it reads becomes the tables of a generalization, in
the file's own row order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import polars as pl
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from republish.anonymize.columns import entries
from republish.anonymize.contract import (
    Contract,
    DateAttribute,
    Dialect,
    NumberAttribute,
    Product,
    QuasiIdentifier,
    Written,
)
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import ContractError, PublishedFolderError
from republish.anonymize.formats import CLASS, PIECES
from republish.anonymize.people.codes import code_domain, code_dtype, decode
from republish.anonymize.promise import KAnonymity, LDiversity, Promise
from republish.orchestration.audit.read.cells import (
    Cell,
    NoSuchValue,
    accepted,
    cell_reader,
    end_reader,
    value_reader,
)
from republish.orchestration.contracts.contract_file import read_hierarchy_file
from republish.orchestration.contracts.yaml_text import on_a_line, read_yaml
from republish.orchestration.snapshots.locale_formats import DATES, NUMBERS

MOST_PIECES = 5_000_000
"""The most pieces, of all groups, that are compared with the people."""
PAIR = r"^[+-]?(?<first>\d+),(?<second>\d+)$"
"""Two whole numbers, or one with decimals."""
NO_VALUE = ("*", "?", "", "NA")
"""Texts that stand for anything, unless the attribute has such a value."""


class Promised(BaseModel):
    """What another tool says of each of its tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k: Annotated[StrictInt, Field(ge=1)] | None = None
    """k-anonymity: so many rows have the same quasi-identifiers."""
    l: Annotated[StrictInt, Field(ge=1)] | None = None
    """l-diversity: such rows have so many different sensitive values."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.k is None and self.l is None:
            raise ValueError("say k, l or both, as in {k: 5, l: 2}")
        return self

    @property
    def promise(self) -> Promise:
        """The same as parts of a promise."""
        parts = (self.k and KAnonymity(self.k), self.l and LDiversity(self.l))
        return Promise(*(part for part in parts if part))


class Mapping(Dialect):
    """Which published column is what, and how the files are written."""

    quasi_identifiers: dict[StrictStr, StrictStr | tuple[StrictStr, StrictStr]]
    """Per quasi-identifier of the contract: its published column, or its two (low, high)."""
    sensitive: StrictStr
    """The published column of the sensitive attribute."""
    group: StrictStr | None = None
    """A column that numbers the groups. Without it, rows with the same quasi-identifiers are a group."""
    hierarchies: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    """Per quasi-identifier: a CSV of paths `leaf;parent;…;root` that published labels are nodes of."""
    suppressed: tuple[StrictStr, ...] = NO_VALUE
    """What is published where a value is suppressed: anything is possible. So is what null_values names."""
    promise: Promised | None = None
    """What the tables promise, in place of the contract's principle."""

    @field_validator("zone")
    @classmethod
    def _days_have_none(cls, zone: str | None) -> str | None:
        if zone is not None:
            raise ValueError(
                "says nothing here: what is published are days. Write it in the contract's source"
            )
        return zone

    def columns(self) -> list[str]:
        """The published columns that are named, those of quasi-identifiers first."""
        ends = self.quasi_identifiers.values()
        own = [column for one in ends for column in ((one,) if isinstance(one, str) else one)]
        return [*own, self.sensitive, *([self.group] if self.group else [])]

    @property
    def anything(self) -> tuple[str, ...]:
        """The texts that stand for any value of a quasi-identifier."""
        return (*self.suppressed, *(self.null_values or ()))


@dataclass(frozen=True)
class Foreign:
    """A mapping, and the hierarchies it names."""

    mapping: Mapping
    hierarchies: dict[str, list[list[str]]]

    @property
    def promise(self) -> Promise | None:
        """What the tables promise, if the mapping says it."""
        return None if self.mapping.promise is None else self.mapping.promise.promise


def states_promise(path: Path) -> bool:
    """Whether a mapping file says what is promised, so that the contract need not.

    Raises
    ------
    ContractError
        If the file can't be read.
    """
    stated = read_yaml(path)
    return isinstance(stated, dict) and "promise" in stated


def load_mapping(path: Path, contract: Product) -> Foreign:
    """Read a mapping file.

    Raises
    ------
    ContractError
        Naming the file, every wrong key and what is accepted.
    """
    if not isinstance(contract, Contract):
        fault = "is for tables of groups, and the contract is of a view: leave --mapping out"
        raise ContractError(str(path), [("", fault)])
    if contract.sensitive.is_several:
        fault = "says which column is the sensitive one, and the contract has several: audit each by itself"
        raise ContractError(str(path), [("sensitive", fault)])
    try:
        mapping = Mapping.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = [(".".join(str(step) for step in fault["loc"]), fault["msg"]) for fault in error.errors()]
        raise ContractError(str(path), faults) from None
    names = {qi.name for qi in contract.quasi_identifiers}
    faults = [
        (f"quasi_identifiers.{name}", "is missing: say which published column it is")
        for name in sorted(names - set(mapping.quasi_identifiers))
    ]
    faults += [
        (f"quasi_identifiers.{name}", f"is no quasi-identifier of the contract ({', '.join(sorted(names))})")
        for name in sorted((set(mapping.quasi_identifiers) | set(mapping.hierarchies)) - names)
    ]
    if faults:
        raise ContractError(str(path), faults)
    hierarchies = {}
    for qi in contract.quasi_identifiers:
        if (file := mapping.hierarchies.get(qi.name)) is not None:
            try:
                hierarchies[qi.name] = _paths(path.parent, file, qi, mapping)
            except ValueError as error:
                faults.append((f"hierarchies.{qi.name}", str(error)))
    if faults:
        raise ContractError(str(path), faults)
    return Foreign(mapping, hierarchies)


class Cells(NamedTuple):
    """What is counted of the cells of a table, because its conversion loses it."""

    anything: int
    """Cells that cover every value of their attribute."""
    spelt: int
    """Rows of classes whose cells are spelt in several ways."""


def convert(
    rows: pl.DataFrame, foreign: Foreign, contract: Contract, where: str
) -> tuple[dict[str, pl.DataFrame], Cells]:
    """The tables of a generalization, from another tool's rows, and counts of its cells.

    Parameters
    ----------
    rows
        One row per person, in file order.
    foreign
        Which column is what.
    contract
        The attributes behind the columns.
    where
        The file, for errors.

    Returns
    -------
    dict
        `microdata`: `group_id`, `<qi>_low`, `<qi>_high` …, the sensitive column, and columns that the
        mapping doesn't name, as they are.
    Cells
        Counts of what the tables no longer show.

    Raises
    ------
    PublishedFolderError
        If a column is missing, or something in it can't be read as an interval.
    """
    if publishing := [qi.name for qi in contract.quasi_identifiers if qi.publishes_missing]:
        raise PublishedFolderError(
            f"{where}: missing: publish, of {', '.join(publishing)}, is for releases of republish, because"
            " each tool writes missing values in its own way: write missing: leave_out, and leave these rows"
            " out"
        )
    mapping = foreign.mapping
    named = mapping.columns()
    if missing := [column for column in named if column not in rows.columns]:
        raise PublishedFolderError(
            f"{where}: has no column {missing[0]} (it has {', '.join(rows.columns)}); correct the mapping"
        )
    covered = [_Covered.of(rows, qi, foreign, where) for qi in contract.quasi_identifiers]
    numbers = [one.numbers.alias(f"{number}") for number, one in enumerate(covered)]
    classes = pl.DataFrame(numbers).to_struct("class")
    class_id = classes.rank("dense").cast(pl.Int64).alias(CLASS)
    # A row says which value goes with its cells: rows of one number with other cells are another group.
    numbering = pl.DataFrame([*_labels_of_groups(rows, mapping), class_id]).to_struct("group")
    group_id = numbering.rank("dense").cast(pl.Int64).alias("group_id")
    sensitive = _sensitive(rows, contract, mapping, where)
    ends = [end for one in covered for end in one.ends()]
    microdata = pl.DataFrame([group_id, *ends, sensitive.alias(contract.sensitive.name), class_id])
    others = [column for column in rows.columns if column not in named and column not in microdata.columns]
    tables = {"microdata": microdata.with_columns(rows[column] for column in others)}
    if any(one.has_gaps for one in covered):
        numbered = pl.DataFrame([group_id, class_id, *numbers])
        tables[PIECES] = _pieces(numbered, covered, where)
    return tables, Cells(sum(one.anything for one in covered), _spelt(rows, named, mapping, class_id))


def _labels_of_groups(rows: pl.DataFrame, mapping: Mapping) -> list[pl.Series]:
    """What tells the groups of a table apart, in their order: 9 is before 10, and so is G9 before G10."""
    if mapping.group is None:
        return []
    labels = entries(rows, mapping.group).alias("label")
    numbers = (
        labels.cast(pl.String).str.extract(r"^\D*(\d+)\D*$").cast(pl.Int64, strict=False).alias("number")
    )
    return [labels] if numbers.has_nulls() else [numbers, labels]


def _spelt(rows: pl.DataFrame, named: Sequence[str], mapping: Mapping, class_id: pl.Series) -> int:
    """How many rows are of a class whose cells are spelt in several ways."""
    cells = [name for name in named if name not in (mapping.sensitive, mapping.group)]
    texts = pl.DataFrame(entries(rows, name).cast(pl.String).fill_null("") for name in cells)
    spelling = texts.to_struct("spelling").rank("dense")
    classes = pl.DataFrame([class_id, spelling]).group_by(CLASS).agg(pl.len(), pl.col("spelling").n_unique())
    return int(classes.filter(pl.col("spelling") > 1)["len"].sum())


def _sensitive(rows: pl.DataFrame, contract: Contract, mapping: Mapping, where: str) -> pl.Series:
    """The values of the sensitive column; null where there is none."""
    sensitive = entries(rows, mapping.sensitive)
    if sensitive.dtype == pl.String:
        nothing = sensitive.str.strip_chars().is_in(["", *(mapping.null_values or ())])
        sensitive = sensitive.set(nothing.fill_null(value=False), None)
    if contract.sensitive.values and isinstance(contract.sensitive.values[0], int):
        numbers = sensitive.cast(pl.Int64, strict=False)
        if unread := numbers.null_count() - sensitive.null_count():
            raise PublishedFolderError(
                f"{where}: {unread} values of column {mapping.sensitive} are no whole numbers, as"
                f" {contract.sensitive.name} has in the contract: correct the contract, or the mapping"
            )
        return numbers
    sensitive = sensitive.cast(pl.String)
    return sensitive.fill_null(MISSING) if contract.sensitive.publishes_missing else sensitive


@dataclass(frozen=True)
class _Covered:
    """What the cells of an attribute cover, row by row."""

    qi: QuasiIdentifier
    numbers: pl.Series
    """The number of each row's cell."""
    cells: Sequence[Cell]
    """What cells cover, in an order of their own."""

    @classmethod
    def of(cls, rows: pl.DataFrame, qi: QuasiIdentifier, foreign: Foreign, where: str) -> Self:
        """Read an attribute's published column, or its two; every different text is read once."""
        source = foreign.mapping.quasi_identifiers[qi.name]
        columns = [source] if isinstance(source, str) else [*source]
        texts = pl.DataFrame(
            entries(rows, column).cast(pl.String).fill_null("").str.strip_chars().alias(f"{n}")
            for n, column in enumerate(columns)
        )
        distinct = texts.unique()
        found = [
            _read_texts(distinct[f"{n}"].unique(), read, qi, foreign, f"{where}: column {column}")
            for n, (column, read) in enumerate(zip(columns, _readers(qi, foreign, len(columns)), strict=True))
        ]
        # Of two columns, the first has the lowest value, and the last one the highest.
        read = [
            found[0][keys[0]] if len(keys) == 1 else ((found[0][keys[0]][0][0], found[1][keys[1]][0][1]),)
            for keys in distinct.iter_rows()
        ]
        cells = sorted(set(read))
        at = {cell: number for number, cell in enumerate(cells)}
        numbered = distinct.with_columns(number=pl.Series([at[cell] for cell in read], dtype=pl.Int64))
        numbers = texts.join(numbered, on=texts.columns, how="left", maintain_order="left")["number"]
        backwards = [n for n, cell in enumerate(cells) if any(low > high for low, high in cell)]
        if number := numbers.is_in(backwards).sum():
            raise PublishedFolderError(f"{where}: {number} intervals of {qi.name} end before they begin")
        return cls(qi, numbers, cells)

    @property
    def anything(self) -> int:
        """How many rows have a cell that covers every value."""
        lowest, highest = code_domain(self.qi)
        whole = [
            n
            for n, ((low, high), *more) in enumerate(self.cells)
            if not more and low <= lowest and high >= highest
        ]
        return int(self.numbers.is_in(whole).sum())

    @property
    def has_gaps(self) -> bool:
        """Whether a cell covers values on both sides of one that it does not cover."""
        return any(len(cell) > 1 for cell in self.cells)

    def ends(self) -> Iterator[pl.Series]:
        """The lowest and the highest value that each row covers, in the attribute's own type."""
        codes = {"low": [cell[0][0] for cell in self.cells], "high": [cell[-1][1] for cell in self.cells]}
        for end, some in codes.items():
            own = _own(pl.Series(map(float, some), dtype=pl.Float64), self.qi)
            yield own.gather(self.numbers).alias(f"{self.qi.name}_{end}")


def _readers(qi: QuasiIdentifier, foreign: Foreign, columns: int) -> list[Callable[[str], Cell | None]]:
    """What reads each of an attribute's published columns: one, or two with the ends."""
    mapping = foreign.mapping
    read = cell_reader(qi, foreign.hierarchies.get(qi.name), mapping.anything, mapping)
    return [read] if columns == 1 else [end_reader(qi, read, mapping, at) for at in (0, 1)]


def _read_texts(
    texts: pl.Series,
    read: Callable[[str], Cell | None],
    qi: QuasiIdentifier,
    foreign: Foreign,
    where: str,
) -> dict[str, Cell]:
    """What each text covers.

    Raises
    ------
    PublishedFolderError
        If one can't be read, or covers no value, with what is accepted.
    """
    _refuse_ambiguous_commas(texts, qi, foreign.mapping, where)
    found: dict[str, Cell] = {}
    unread, nothing = list[str](), list[str]()
    for text in texts:
        try:
            cell = read(text)
        except NoSuchValue:
            nothing.append(text)
        else:
            if cell is None:
                unread.append(text)
            else:
                found[text] = cell
    if unread:
        raise PublishedFolderError(
            f"{where}: can't read {min(unread)!r} as an interval of {qi.name} ({len(unread)} such texts)."
            f" {_way_out(unread, qi, foreign)}"
        )
    if nothing:
        raise PublishedFolderError(
            f"{where}: has numbers with decimals where {qi.name} has whole numbers in the contract"
            f" ({min(nothing)}; {len(nothing)} such texts), and they cover nobody: are they means of groups?"
            " Means can't be matched with people. Publish intervals, or, if people have such numbers, give"
            f" {qi.name} a domain with decimals, such as [0.0, 120.0]"
        )
    return found


def _refuse_ambiguous_commas(texts: pl.Series, qi: QuasiIdentifier, written: Written, where: str) -> None:
    """Raise PublishedFolderError if 43,33 may be a number with decimals, and a set of two as well.

    Sets are in order, and some have another number of members.
    """
    if not isinstance(qi, NumberAttribute) or written.decimal or written.thousands:
        return
    pairs = texts.filter(texts.str.contains(",", literal=True)).str.extract_groups(PAIR).struct.unnest()
    first, second = (pairs[side].cast(pl.Float64) for side in ("first", "second"))
    if first.has_nulls() or not (first >= second).any():
        return
    raise PublishedFolderError(
        f"{where}: the {len(first)} texts of {qi.name} with a comma can be read in two ways, as 43,33 can: as"
        " numbers with decimals, or as sets of two. Write decimal: ',' in the mapping, or decimal: '.' if"
        " they are sets"
    )


def _way_out(unread: Sequence[str], qi: QuasiIdentifier, foreign: Foreign) -> str:
    """The lines of a mapping by which texts could be read; else what is accepted."""
    usual = {DateAttribute: DATES, NumberAttribute: NUMBERS}.get(type(qi), ())
    hierarchy, suppressed = foreign.hierarchies.get(qi.name), foreign.mapping.anything
    for written in usual:
        read = cell_reader(qi, hierarchy, suppressed, written)
        with suppress(NoSuchValue):
            if all(read(text) is not None for text in unread):
                return f"Say in the mapping how it is written: {on_a_line(written.model_dump())[1:-1]}"
    return f"Accepted: {accepted(qi)}; what stands for anything is listed under suppressed in the mapping"


def _pieces(numbered: pl.DataFrame, covered: Sequence[_Covered], where: str) -> pl.DataFrame:
    """`group_id`, `<qi>_low`, `<qi>_high`, …, `class_id`: all that each group's cells cover, and no gap.

    Parameters
    ----------
    numbered
        `group_id`, `class_id`, and the number of each row's cell by the position of its attribute.
    covered
        What these cells cover, by attribute.
    where
        The file, for errors.
    """
    pieces, ends = numbered.unique(), list[pl.Series]()
    for position, one in enumerate(covered):
        rows = [(n, *map(float, piece)) for n, cell in enumerate(one.cells) for piece in cell]
        names = [f"{position}_low", f"{position}_high"]
        each = pl.DataFrame(rows, [f"{position}", *names], orient="row")
        pieces = pieces.join(each, on=f"{position}")
        if len(pieces) > MOST_PIECES:
            raise PublishedFolderError(
                f"{where}: its sets leave out so many values between others that their groups are more than"
                f" {MOST_PIECES:,} intervals: list labels that are published together beside each other in"
                " the contract"
            )
    for position, one in enumerate(covered):
        for end in ("low", "high"):
            own = _own(pieces[f"{position}_{end}"], one.qi)
            ends.append(own.alias(f"{one.qi.name}_{end}"))
    return pl.DataFrame([pieces["group_id"], *ends, pieces[CLASS]]).sort(pl.all())


def _own(codes: pl.Series, qi: QuasiIdentifier) -> pl.Series:
    """Values of an attribute's own type for codes, float64[N]."""
    return pl.select(decode(pl.lit(codes.cast(code_dtype(qi))), qi)).to_series()


def _paths(folder: Path, file: str, qi: QuasiIdentifier, mapping: Mapping) -> list[list[str]]:
    """The paths of a hierarchy whose leaves are all values of the attribute."""
    value = value_reader(qi, mapping)
    paths = [[label.strip() for label in path] for path in read_hierarchy_file(folder, file)]
    for line, path in enumerate(paths, start=1):
        if value(path[0]) is None:
            raise ValueError(
                f"{file}, line {line}: {path[0]!r} is no value of {qi.name}: correct it, take the line out,"
                " or add the value to the contract"
            )
    return paths
