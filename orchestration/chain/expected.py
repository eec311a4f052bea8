"""Expected errors: how far off counts from a release would be, before it is published.

Of a release that was rehearsed, what would be published is written into a temporary folder, and read there as
a researcher reads it: copies are drawn, people are counted on each, and what copies say is pooled. The truth
is beside it, which nobody has who gets the folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryAttribute, Schema, Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.contract.scalars import MISSING
from republish.orchestration.chain.publication import files_and_manifest
from republish.orchestration.chain.shard import people_of
from republish.orchestration.readers.estimate.copies import copies_of
from republish.orchestration.readers.estimate.folders import package_of
from republish.orchestration.readers.estimate.names import column_names
from republish.orchestration.readers.estimate.pooling import pooled_rows
from republish.orchestration.readers.estimate.published import read_published
from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import shards_of
from republish.orchestration.storage.manifest import manifest, sums
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import write_folder

FEWEST = 100
"""Labels of categories that fewer people have are left out: a release tells little of them."""
COPIES, SEED = 25, 1
"""As of `republish estimate`, if nobody says otherwise."""


def expected_errors(tried: Series, release: str, made: ReleaseRecord) -> pl.DataFrame | None:
    """Estimate counts from a release that was rehearsed, as a researcher would, beside the truth.

    Parameters
    ----------
    tried
        The series as it is rehearsed (`rehearsal`).
    made
        The candidate of its release, which is committed there.

    Returns
    -------
    polars.DataFrame
        A row for each label of a category that `FEWEST` people of the table have, and for each sensitive
        value; of a column the most frequent ones first: `column`, `value`, `people` (of the table, who have
        it), `estimate`, and `half_width` (of its 95 % interval). None of a view: its rows are people under
        labels, and counts of these are exact.
    """
    contract = tried.contract
    if not isinstance(contract, Schema):
        return None
    categories = {one.name: ours for ours, one in contract.attributes() if isinstance(one, CategoryAttribute)}
    sensitive = {one.name: ours for ours, one in contract.sensitive_columns()}
    asked = categories | sensitive
    folder = tried.private(release)
    tables = (people_of(shard, release, shard.within(folder)) for shard in shards_of(tried))
    true = _added_up(_counted(_apart(people, contract), asked) for people in tables)
    true = true.filter((pl.col("people") >= FEWEST) | pl.col("column").is_in(list(sensitive)))
    with scratch_folder() as scratch:
        place = scratch / release
        files, described = files_and_manifest(tried, release, made)
        write_folder(place, files, lambda written: manifest(described, written), sums)
        package = package_of(place)
        own = (one.name for _, one in contract.all_columns())
        names = dict(zip(own, column_names(package), strict=True))
        copies = copies_of(read_published(place, package), COPIES, SEED)
        in_copies = {name: names[name] for name in asked}
        said = [_counted(_in_bins(copy, names, contract), in_copies) for copy in copies]
    order = pl.col("column").replace_strict(list(asked), range(len(asked)), return_dtype=pl.Int64)
    return _beside(true, said).sort(order, -pl.col("people"), "value")


def _apart(people: pl.DataFrame, contract: Schema) -> pl.DataFrame:
    """People with each sensitive column by itself, as it is published."""
    values = values_of(contract.sensitive.published(people[VALUE]), contract.sensitive)
    names = (ours for ours, _ in contract.sensitive_columns())
    apart = people.drop(VALUE)
    return apart.with_columns(one.alias(name) for name, one in zip(names, values, strict=True))


def _in_bins(copy: pl.DataFrame, names: Mapping[str, str], contract: Schema) -> pl.DataFrame:
    """A copy with the names of bins in place of the numbers that were drawn within them."""
    binned = {names[one.name]: one for _, one in contract.sensitive_columns() if one.bins}
    return copy.with_columns(_bins_of(copy[name], one).alias(name) for name, one in binned.items())


def _bins_of(numbers: pl.Series, declared: Sensitive) -> pl.Series:
    """The name of each number's bin, null for null."""
    bins = pl.Series(declared.in_source, dtype=pl.String)
    known = numbers.fill_null(declared.bins[0]).to_numpy()
    at = np.clip(np.searchsorted(declared.bins, known, side="right") - 1, 0, len(bins) - 1)
    return pl.select(pl.when(numbers.is_not_null()).then(bins.gather(at))).to_series()


def _counted(people: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """`column`, `value` (as text), `people`; `columns` are the table's, by the contract's names."""
    counts = [
        people[column]
        .cast(pl.String)
        .fill_null(MISSING)
        .value_counts(name="people")
        .rename({column: "value"})
        for column in columns.values()
    ]
    return pl.concat(
        one.select(column=pl.lit(name), value="value", people=pl.col("people").cast(pl.Int64))
        for name, one in zip(columns, counts, strict=True)
    )


def _added_up(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts).group_by("column", "value").agg(pl.col("people").sum())


def _beside(true: pl.DataFrame, said: list[pl.DataFrame]) -> pl.DataFrame:
    """True counts with what copies say of them, pooled: `estimate`, `half_width`."""
    told = [
        true.join(one, on=["column", "value"], how="left", suffix="_told", maintain_order="left")
        for one in said
    ]
    values = np.stack([one["people_told"].fill_null(0).to_numpy() for one in told], axis=1).astype(float)
    estimate, _, reach = pooled_rows(values)
    return true.with_columns(estimate=pl.Series(estimate), half_width=pl.Series(reach))
