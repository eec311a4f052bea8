"""Releases that nobody can have published, sealed as if: no number is given."""

import json

import polars as pl
import pytest

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.storage.manifest import MANIFEST, sums
from republish.orchestration.storage.store import SUMS, sha256
from tests.hospital import RELEASES


def change(**entries):
    """Another entry in the first row of a table."""
    return lambda table: pl.concat([table.head(1).with_columns(**entries).cast(table.schema), table[1:]])


R_N = "counterfeits"
IMPOSSIBLE = {
    "more counterfeits than tuples": (R_N, lambda t: some(t, 10**6)),
    "negative counterfeits": (R_N, lambda t: some(t, -3)),
    "no counterfeits": (R_N, lambda t: some(t, 0)),
    "2^62 counterfeits": (R_N, lambda t: some(t, 2**62)),
    "-2^63 counterfeits": (R_N, lambda t: some(t, -(2**63))),
    "counterfeits of no group": (R_N, lambda t: some(t, 1, group=10**6)),
    "counterfeits twice": (R_N, lambda t: pl.concat([some(t, 1), some(t, 1)])),
    "counterfeits of nobody knows what": (R_N, lambda t: some(t, None)),
    "an interval reversed": ("microdata", change(age_low=pl.col("age_high") + 1)),
    "an interval below the domain": ("microdata", change(age_low=pl.lit(-5))),
    "an interval above the domain": ("microdata", change(age_high=pl.lit(10**6))),
    "an interval that is missing": ("microdata", change(age_low=pl.lit(None))),
    "a label of no column": ("microdata", change(sex_low=pl.lit("X"))),
    "a label that is missing": ("microdata", change(sex_high=pl.lit(None))),
    "a value that is missing": ("microdata", change(disease=pl.lit(None))),
    "a group that is missing": ("microdata", change(group_id=pl.lit(None))),
    "a group of several intervals": ("microdata", change(age_high=pl.col("age_high") + 1)),
    "another release": ("microdata", change(release=pl.lit("1999-01-01").str.to_date())),
    "rows that are missing": ("microdata", lambda table: table[3:]),
    "no rows": ("microdata", lambda table: table.clear()),
    "text for numbers": ("microdata", lambda table: table.cast({"age_low": pl.String})),
}


def some(table, count, group=None):
    first = pl.DataFrame({"release": [RELEASES[1]], "group_id": [group or 1], "count": [count]})
    return first.with_columns(pl.col("release").str.to_date()).cast(table.schema)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_no_number_comes_of_what_no_release_has(what, series):
    name, tamper = IMPOSSIBLE[what]
    folder = series.published(RELEASES[1])
    table = tamper(pl.read_parquet(folder / f"{name}.parquet"))
    table.write_parquet(folder / f"{name}.parquet")
    stated = json.loads((folder / MANIFEST).read_text())
    for file in stated["files"]:
        stated["files"][file]["sha256"] = sha256(folder / file)
    stated["files"][f"{name}.parquet"]["rows"] = table.height
    (folder / MANIFEST).write_text(json.dumps(stated))
    (folder / SUMS).write_text(sums(folder, stated))
    with pytest.raises(PublishedFolderError) as refused:
        estimate(folder)
    assert str(refused.value).isprintable()
