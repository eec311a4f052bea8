"""`republish associate`: how a value goes with other columns, from a first release with exact ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.columns import PSEUDONYM, VALUE, exactly
from republish.anonymize.contract import Contract, Product
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import ContractError, PublishedFolderError, QueryError
from republish.anonymize.formats import ANATOMY
from republish.anonymize.formats.published import Published
from republish.anonymize.learning.associations import Asked, Associations, Groups, associations
from republish.anonymize.learning.imputed import dealings
from republish.anonymize.learning.logit import Columns
from republish.anonymize.people.codes import encode_columns
from republish.anonymize.people.randomness import generator
from republish.anonymize.principles import parse_contract, principle_of, publisher_of
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.readers.datapackage.words import sensitive_columns
from republish.orchestration.readers.estimate.folders import package_of
from republish.orchestration.readers.estimate.names import column_names
from republish.orchestration.storage.manifest import DATA_PACKAGE, releases_in, verify_tables
from republish.orchestration.storage.parts import scan_parts, table_files
from republish.orchestration.unforeseen import named

FEWEST_PEOPLE = 20
"""Of a value that fewer tuples have, nothing is said."""
MOST, KEPT = 0.5, 0.9
"""Tables can be asked of a column if more of its slopes than this are told, and so much of these is kept."""
REGIONS = 1.5
"""Where groups have people of more regions than this, on average, they are not made region by region."""
ATTRIBUTE = ("name", "kind", "domain", "hierarchy", "missing")
SENSITIVE = ("name", "values", "missing", "semantics", "not_sensitive")
"""What packages say of columns as contracts do."""
FIGURES = {"column", "measure", "label", "estimate", "low", "high"}
"""Columns of an answer; a sensitive column that is called like one of them gets a number."""
FIRST = "of the first release of a series alone, which is simulated"


@dataclass(frozen=True)
class Found:
    """What associations of a release are, and what it took."""

    rows: pl.DataFrame
    """The sensitive column; `column`, `measure` (`slope`, `difference`, `mean`), of a difference its `label`;
    `estimate`, `low`, `high`: null where it can't be told."""
    misfit: float
    """About 1 where simulated releases are like the published one (`Associations.misfit`)."""
    releases: int
    """How many were simulated."""
    little: list[str]
    """The columns of which is told how little goes with them: estimates say less than intervals."""


@dataclass(frozen=True)
class Copies:
    """Tables of people as they may be, and what they can be asked."""

    tables: list[pl.DataFrame]
    """Each copy, with a row for each person: `copy` (1, 2, …), `release`, the quasi-identifiers and the
    sensitive column, as of `readers.estimate.copies.copies`."""
    told: list[str]
    """The quasi-identifiers of which can be told how the sensitive column goes with them."""
    not_told: list[str]
    """Those of which it can't: tables show what groups show, or nothing."""


def associated(
    published: Path,
    of: str,
    on: Sequence[str],
    seed: int = 1,
    begin: Callable[[str], None] = lambda _part: None,
) -> Found:
    """Estimate how each value goes with some columns, from a published folder alone.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or no release can be simulated of it.
    QueryError
        If a column can't be asked for, or it is no first release with exact quasi-identifiers.
    """
    release = _Release.of(published)
    columns = _asked_columns(release.contract, of, on)
    return of_tables(release.tables, release.contract, columns, seed, begin, str(release.folder))


def copies_by_model(
    published: Path, copies: int, seed: int = 1, begin: Callable[[str], None] = lambda _part: None
) -> Copies:
    """Multiple imputations in which values go with quasi-identifiers as `associated` says that they do.

    Raises
    ------
    PublishedFolderError
        As of `associated`.
    QueryError
        If it is no first release with exact quasi-identifiers, or nothing can be told.
    """
    release = _Release.of(published)
    people = release.tables["quasi_identifiers"]
    codes = encode_columns(people, release.contract)
    there = [one for column, one in release.contract.attributes() if not codes[column].has_nulls()]
    on, random = [one.name for one in there], np.random.default_rng(seed)
    learned = learned_of(release.tables, release.contract, on, random, begin, str(release.folder))
    _refuse_untold(learned.columns_told(), release)
    dealing, dealt = learned.dealings(release.contract, random), []
    for copy in range(1, copies + 1):
        begin(f"table {copy}")
        dealt.append(next(dealing))
    told = learned.columns_told(dealt)
    _refuse_untold(told, release)
    ours = [column for column, _ in release.contract.attributes()]
    names = dict(zip([*ours, VALUE], column_names(release.package), strict=True))
    tables = []
    for copy, values in enumerate(dealt, 1):
        table = people.select(
            pl.lit(copy, pl.Int64).alias("copy"),
            pl.lit(dt.date.fromisoformat(release.date)).alias("release"),
            *(exactly(column) for column in ours),
            learned.values.gather(values).alias(VALUE),
        )
        tables.append(table.filter(pl.Series(learned.is_person)).rename(names))
    return Copies(tables, told, [one.name for one in there if one.name not in told])


def of_tables(
    tables: Mapping[str, pl.DataFrame],
    contract: Contract,
    on: Sequence[str],
    seed: int = 1,
    begin: Callable[[str], None] = lambda _part: None,
    where: str = "release",
) -> Found:
    """Estimate the same from published tables, and the contract that they were made by."""
    learned = learned_of(tables, contract, on, np.random.default_rng(seed), begin, where)
    return learned.said(contract.sensitive.name)


@dataclass(frozen=True)
class Learned:
    """What was learned of a release by simulating others."""

    groups: Groups
    is_person: Bools
    """Which of its tuples are taken as people, bool[N]."""
    values: pl.Series
    """The V values."""
    totals: Ints
    """int64[V]: how many people have each."""
    asked: Asked
    found: Associations

    @property
    def many(self) -> Bools:
        """Which values many people have, bool[V]."""
        return self.totals >= FEWEST_PEOPLE

    def said(self, sensitive: str) -> Found:
        """What is answered, of the sensitive column's name."""
        values = self.values.alias(f"{sensitive}_1" if sensitive in FIGURES else sensitive)
        told, certain = self.found.told(self.many), self.found.told(self.many, narrow=0)
        little = {
            of
            for at, (of, measure, _, _) in enumerate(self.asked.figures)
            if measure != "mean" and (told[at] > certain[at]).any()
        }
        names = [attribute.name for at, (_, attribute) in enumerate(self.asked.attributes) if at in little]
        return Found(_rows(self, values), self.found.misfit, self.found.releases, names)

    def dealings(self, contract: Contract, random: np.random.Generator) -> Iterator[Ints]:
        """Give each tuple a value, int64[N], again and again, as `anonymize.learning.imputed.dealings`."""
        columns = Columns.of(self.groups.codes, contract.attributes()).of_people(self.groups.codes)
        return dealings(self.groups, columns, self.is_person, self.found, random)

    def columns_told(self, dealt: Sequence[Ints] = ()) -> list[str]:
        """The columns whose slopes or differences such tables, int64[N] each, have as they were learned.

        Without tables, the columns of which enough was learned that tables may have them.
        """
        codes, many, found = self.groups.codes.filter(pl.Series(self.is_person)), self.many, []
        told, learned = self.found.told(many, narrow=0)[:, many], self.found.found[:, many]
        each = [self.asked.of_people(codes, np.eye(len(many))[one[self.is_person]])[:, many] for one in dealt]
        shown = np.mean(each, axis=0) if each else learned
        for at, (_, attribute) in enumerate(self.asked.attributes):
            rows = [of == at and measure != "mean" for of, measure, _, _ in self.asked.figures]
            of, true = shown[rows][told[rows]], learned[rows][told[rows]]
            is_told = told[rows].any() and told[rows].mean() > MOST
            if is_told and KEPT <= (of * true).sum() / (true**2).sum() <= 1 / KEPT:
                found.append(attribute.name)
        return found


def learned_of(
    tables: Mapping[str, pl.DataFrame],
    contract: Contract,
    on: Sequence[str],
    random: np.random.Generator,
    begin: Callable[[str], None] = lambda _part: None,
    where: str = "release",
) -> Learned:
    """Learn how values go with columns from published tables, and the contract that they were made by."""
    values = tables["sensitive"][VALUE].unique().sort()
    release = groups_of(tables, contract, values)
    qis = tables["quasi_identifiers"].select([exactly(column) for column, _ in contract.attributes()])
    is_person = _without_counterfeits(tables, random)
    attributes = list(contract.attributes())
    asked = Asked.of(release.codes, [one for one in attributes if one[1].name in on])
    _refuse_missing(release.codes, asked)
    tuples = np.bincount(release.held["at"].to_numpy(), release.held["tuples"].to_numpy(), len(values))
    totals = _of_people(tuples, int(is_person.sum()))
    people, publish = qis.filter(pl.Series(is_person)), publisher_of(contract)

    def simulate(drawn: Ints, random: np.random.Generator) -> Groups | None:
        names = [random.bytes(16) for _ in range(len(drawn))]
        table = people.with_columns(values.gather(drawn).alias(VALUE), pl.Series(PSEUDONYM, names, pl.Binary))
        key = random.bytes(32)
        made = publish(table, lambda purpose: generator(key, contract.product, "", "", purpose))
        return None if made is None else groups_of(ANATOMY.internal(made, contract), contract, values)

    region = _regions(release, is_person, totals, contract)
    found = associations(release, is_person, region, totals, attributes, asked, simulate, random, begin)
    if found is None:
        raise PublishedFolderError(
            f"{where}: can't tell: the algorithm refuses most releases that are simulated of these people, as"
            " a value is nearly too frequent for its promise"
        )
    return Learned(release, is_person, values, totals, asked, found)


@dataclass(frozen=True)
class _Release:
    """A first release that its reader can simulate."""

    folder: Path
    date: str
    package: Mapping[str, Any]
    contract: Contract
    tables: Mapping[str, pl.DataFrame]
    """Under our own column names."""

    @classmethod
    def of(cls, published: Path) -> _Release:
        """Read it from a published folder, which is verified."""
        folders = list(releases_in(published))
        if len(folders) > 1:
            raise QueryError(
                f"{published}: has {len(folders)} releases, and associations are estimated {FIRST}: name"
                f" {folders[0]}"
            )
        (folder,) = folders
        with named(folder):
            stated, package = verify_tables(folder), package_of(folder)
            try:
                contract = simulated_contract(folder, stated, package)
            except (AttributeError, LookupError, TypeError, ValueError):
                raise PublishedFolderError(
                    f"{folder / DATA_PACKAGE}: is not a package of republish's"
                ) from None
            date = str(stated["release"])
            tables = {
                name: undated(scan_parts(table_files(folder, name)).collect(), date)
                for name in ANATOMY.tables(contract)
            }
            return cls(folder, date, package, contract, ANATOMY.internal(tables, contract))


def simulated_contract(folder: Path, stated: Mapping[str, Any], package: Mapping[str, Any]) -> Contract:
    """The contract by which a reader simulates a release: what its package says of columns and principle.

    Raises
    ------
    QueryError
        If its releases can't be simulated.
    """
    own, sensitive = package["republish"], sensitive_columns(package["republish"])
    if own["format"] != ANATOMY.name:
        raise QueryError(
            f"{folder}: publishes intervals, of which associations can't be told yet: they are estimated from"
            " exact quasi-identifiers (format: anatomy). republish estimate has counts, means and shares"
        )
    if stated["n"] != 1:
        raise QueryError(
            f"{folder}: is release {stated['n']} of its series, and associations are estimated {FIRST}"
        )
    if len(sensitive) != 1 or own.get("rows"):
        what = "several rows of a person" if own.get("rows") else "several sensitive columns"
        raise QueryError(f"{folder}: has {what}, of which associations can't be told yet")
    if len(table_files(folder, "quasi_identifiers")) != 1:
        raise QueryError(f"{folder}: is in parts, as releases in shards are, which can't be simulated yet")
    attributes = [
        {key: one[key] for key in ATTRIBUTE if key in one}
        | ({"order": one["labels"]} if one["kind"] == "category" and "hierarchy" not in one else {})
        for one in own["attributes"]
    ]
    taken = {one["name"] for one in (*own["attributes"], *sensitive)}
    declared = {
        "product": "simulated",
        "series": "v1",
        "source": {"path": "none.parquet"},
        "releases": {"first": "2000-01-01"},
        "identifier": next(name for name in ("person", "person_", "person__") if name not in taken),
        "quasi_identifiers": attributes,
        "sensitive": {key: sensitive[0][key] for key in SENSITIVE if key in sensitive[0]},
        "principle": dict(stated["principle"]),
    }
    try:
        contract: Product = parse_contract(declared)
    except ContractError as error:
        raise QueryError(
            f"{folder / DATA_PACKAGE}: its releases can't be simulated: {str(error).splitlines()[-1].strip()}"
        ) from None
    assert isinstance(contract, Contract)
    return contract


def groups_of(tables: Mapping[str, pl.DataFrame], contract: Contract, values: pl.Series) -> Groups:
    """What a reader learns from, of tables under our own column names."""
    read: Published = ANATOMY.read(tables, contract)
    groups = read.sizes.select("group_id").sort("group_id").with_row_index("group")
    places = values.to_frame(VALUE).with_row_index("at")
    held = read.values.join(groups, on="group_id").join(places, on=VALUE, nulls_equal=True)
    share = pl.col("tuples") / pl.col("tuples").sum().over("group")
    held = held.select(pl.col("group", "at", "tuples").cast(pl.Int64), share.alias("share"))
    rows = tables["quasi_identifiers"].with_columns(pl.col("group_id").cast(pl.Int64))
    group = rows.join(groups, on="group_id", maintain_order="left")["group"].cast(pl.Int64).to_numpy()
    return Groups(encode_columns(rows, contract), group, held.sort("group", "at"))


def _asked_columns(contract: Contract, of: str, on: Sequence[str]) -> list[str]:
    """The names of the columns that are asked for; QueryError if there is none of such a name."""
    sensitive, names = contract.sensitive.name, [one.name for _, one in contract.attributes()]
    if of != sensitive:
        raise QueryError(f"--of {of}: is no sensitive column; there is {sensitive}")
    for name in on:
        if name not in names:
            raise QueryError(f"--on {name}: is no quasi-identifier; there are {', '.join(names)}")
    return list(dict.fromkeys(on))


def _without_counterfeits(tables: Mapping[str, pl.DataFrame], random: np.random.Generator) -> Bools:
    """Which tuples to simulate people of, bool[N]: as many of each group as it has people, by lot."""
    ids = tables["quasi_identifiers"].select(pl.col("group_id").cast(pl.Int64))
    forged = tables["counterfeits"].select(pl.col("group_id").cast(pl.Int64), "count")
    lots = ids.with_columns(lot=pl.Series(random.random(len(ids)))).with_columns(
        pl.col("lot").rank("ordinal").over("group_id")
    )
    counts = lots.join(forged, on="group_id", how="left", maintain_order="left")
    found: Bools = (counts["lot"] > counts["count"].fill_null(0)).to_numpy()
    return found


def _regions(release: Groups, is_person: Bools, totals: Ints, contract: Contract) -> Ints:
    """The region of each person, int64[P], if groups are of people of a region: else 0."""
    group, regions = release.group[is_person], principle_of(contract).regions
    if regions is None:
        return np.zeros(len(group), np.int64)
    found = regions(release.codes.filter(pl.Series(is_person)), totals, contract)
    several = np.unique(np.stack([group, found]), axis=1).shape[1] > REGIONS * len(np.unique(group))
    return 0 * found if several else found


def _of_people(tuples: Ints | Floats, people: int) -> Ints:
    """How many people have each value, if counterfeits have each as often as people do."""
    shares = tuples * people / tuples.sum()
    counts = np.floor(shares).astype(np.int64)
    counts[np.argsort(counts - shares, kind="stable")[: people - counts.sum()]] += 1
    found: Ints = counts
    return found


def _refuse_untold(told: Sequence[str], release: _Release) -> None:
    if not told:
        raise QueryError(
            f"{release.folder}: how {release.contract.sensitive.name} goes with other columns can't be told;"
            " without --model, tables show of it what groups show"
        )


def _refuse_missing(codes: pl.DataFrame, asked: Asked) -> None:
    for column, attribute in asked.attributes:
        if codes[column].has_nulls():
            raise QueryError(
                f"--on {attribute.name}: is missing ({MISSING}) of some people; ask for other columns"
            )


def _rows(learned: Learned, values: pl.Series) -> pl.DataFrame:
    parts, asked, found = [], learned.asked, learned.found
    is_told = found.told(learned.many)
    for at, (of, measure, label, base) in enumerate(asked.figures):
        attribute, told = asked.attributes[of][1], is_told[at]
        labels = getattr(attribute, "labels", ())
        said = None if label is None or base is None else f"{labels[label]} rather than {labels[base]}"
        estimate, half = found.found[at], found.half_width[at]
        numbers = {"estimate": estimate, "low": estimate - half, "high": estimate + half}
        parts.append(
            pl.DataFrame(
                {
                    values.name: values,
                    "column": [attribute.name] * len(values),
                    "measure": [measure] * len(values),
                    "label": pl.Series([said] * len(values), dtype=pl.String),
                    **{name: np.where(told, one, np.nan) for name, one in numbers.items()},
                }
            ).with_columns(pl.col("estimate", "low", "high").fill_nan(None))
        )
    return pl.concat(parts)
