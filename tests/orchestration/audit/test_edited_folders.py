"""Published folders of our own that somebody edited, with manifests that agree: convicted or refused.

The counts stand in docs/measured/audits.md.
"""

import json
import shutil

import polars as pl
import pytest

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.storage.store import write_table
from tests import findings as fi
from tests.anonymize.attack.attack_series import contract
from tests.orchestration.audit.published_folders import NAMES, run, write_manifests, write_series

pytestmark = [pytest.mark.slow("audits some forty series"), pytest.mark.usefixtures("only_verdicts")]

EDITED = {}
MIDDLE = NAMES[1]
MICRODATA, COUNTS = "microdata", "counterfeits"


def edited(why, table=None):
    """Let a function that edits a series, or a table of its second release, be a way to break one."""

    def note(edit):
        EDITED[why] = edit if table is None else lambda series: change(series, table, edit)

    return note


def change(series, table, by, release=MIDDLE):
    """Publish another table in place of one."""
    file = series / release / f"{table}.parquet"
    write_table(file, by(pl.read_parquet(file)))


def in_row(number, **values):
    """Other values in one row, and all rows sorted again as they are published."""

    def by(rows):
        at = pl.int_range(pl.len()) == number
        changed = [pl.when(at).then(values[name]).otherwise(name).alias(name) for name in values]
        return rows.with_columns(changed).sort(pl.all())

    return by


def value_column(rows):
    return rows.columns[-1]


def another_value(rows, number):
    """A value that neither the row nor its group has."""
    name = value_column(rows)
    group = rows.filter(group_id=rows["group_id"][number])[name]
    return next(value for value in sorted(rows[name].unique()) if value not in group)


@edited("a value is changed", MICRODATA)
def _(rows):
    return in_row(7, **{value_column(rows): pl.lit(another_value(rows, 7))})(rows)


@edited("a value is changed into one of the group's others", MICRODATA)
def _(rows):
    name, group = value_column(rows), rows["group_id"][7]
    other = rows.filter((pl.col("group_id") == group) & (pl.col(name) != rows[name][7]))[name][0]
    return in_row(7, **{name: pl.lit(other)})(rows)


@edited("two rows of different groups have each other's values", MICRODATA)
def _(rows):
    name = value_column(rows)
    last = len(rows) - 1
    first = next(n for n in range(last) if rows[name][n] != rows[name][last])
    exchanged = rows[name].to_list()
    exchanged[first], exchanged[last] = exchanged[last], exchanged[first]
    return rows.with_columns(pl.Series(name, exchanged)).sort(pl.all())


@edited("a row is moved to the next group", MICRODATA)
def _(rows):
    group = rows["group_id"][7]
    there = rows.filter(group_id=group + 1).row(0, named=True)
    moved = {name: pl.lit(there[name]) for name in rows.columns[:-1]}
    return in_row(7, **moved)(rows)


@edited("a row is left out", MICRODATA)
def _(rows):
    return rows.filter(pl.int_range(pl.len()) != 7)


@edited("a row is there twice", MICRODATA)
def _(rows):
    return pl.concat([rows, rows[7:8]]).sort(pl.all())


@edited("a group is left out", MICRODATA)
def _(rows):
    return rows.filter(pl.col("group_id") != rows["group_id"][7])


@edited("a group is divided", MICRODATA)
def _(rows):
    is_second = (pl.col("group_id") == rows["group_id"][0]) & (pl.int_range(pl.len()) % 2 == 0)
    new = pl.when(is_second).then(pl.col("group_id").max() + 1).otherwise("group_id")
    return rows.with_columns(group_id=new.cast(rows.schema["group_id"])).sort(pl.all())


@edited("a group's ages are fewer than its people's", MICRODATA)
def _(rows):
    low, high = rows.columns[1:3]
    is_first = pl.col("group_id") == rows["group_id"][0]
    return rows.with_columns(pl.when(is_first).then(high).otherwise(low).alias(low)).sort(pl.all())


@edited("one row of a group has other ages", MICRODATA)
def _(rows):
    low = rows.columns[1]
    return in_row(7, **{low: pl.col(low) - 1})(rows)


@edited("a counterfeit is denied", COUNTS)
def _(counts):
    return counts[1:]


@edited("a counterfeit more is stated")
def _(series):
    change(
        series, COUNTS, lambda counts: counts.with_columns(pl.col("count") + (pl.int_range(pl.len()) == 0))
    )


@edited("counterfeits are stated of a group that has none")
def _(series):
    rows = pl.read_parquet(series / MIDDLE / "microdata.parquet")

    def by(counts):
        other = min(set(rows["group_id"]) - set(counts["group_id"]))
        return pl.concat([counts, pl.DataFrame([[other], [1]], counts.schema)]).sort(pl.all())

    change(series, COUNTS, by)


@edited("counterfeits are those of another group")
def _(series):
    rows = pl.read_parquet(series / MIDDLE / "microdata.parquet")

    def by(counts):
        other = min(set(rows["group_id"]) - set(counts["group_id"]))
        return counts.with_columns(
            group_id=pl.Series([other, *counts["group_id"][1:]], dtype=counts.schema["group_id"])
        ).sort(pl.all())

    change(series, COUNTS, by)


@edited("two releases have each other's tables")
def _(series):
    first, last = (series / NAMES[n] for n in (0, 2))
    for table in (MICRODATA, COUNTS):
        one, other = (pl.read_parquet(folder / f"{table}.parquet") for folder in (first, last))
        write_table(first / f"{table}.parquet", other)
        write_table(last / f"{table}.parquet", one)


@edited("rows are in another order", MICRODATA)
def _(rows):
    return rows.reverse()


@edited("groups are numbered backwards")
def _(series):
    numbers = pl.read_parquet(series / MIDDLE / "microdata.parquet")["group_id"]
    other = numbers.max() + numbers.min() - pl.col("group_id")
    for table in (MICRODATA, COUNTS):
        change(
            series, table, lambda rows: rows.with_columns(group_id=other.cast(numbers.dtype)).sort(pl.all())
        )


@edited("a column marks the rows of some people", MICRODATA)
def _(rows):
    return rows.with_columns(note=pl.int_range(pl.len()) % 3)


@edited("one row has its value in capital letters", MICRODATA)
def _(rows):
    name = value_column(rows)
    return in_row(7, **{name: pl.col(name).str.to_uppercase()})(rows)


@edited("one row has its value with an accent", MICRODATA)
def _(rows):
    name = value_column(rows)
    return in_row(7, **{name: pl.col(name).str.replace("[aeiou]", "\u00e9")})(rows)


OF_GROUPS = (
    "a value is changed",
    "two rows of different groups have each other's values",
    "a row is moved to the next group",
    "a group is left out",
)


def without_the_last(series):
    shutil.rmtree(series / NAMES[2])
    truth = series.parents[2] / "truth"
    (truth / f"{NAMES[2]}.parquet").unlink()


HONEST = {"nothing is edited": lambda _: None, "the last release is not there yet": without_the_last}


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edited")
    write_series(folder)
    return folder


def judged(written, folder, edit, linked):
    """The promises that an audit says are broken after an edit; None if it refuses the folder."""
    shutil.copytree(written, folder)
    series = folder / "published/hospital/v1"
    for stated in series.glob("*/manifest.json"):
        stated.unlink()
    edit(series)
    write_manifests(series, contract(m=3))
    try:
        return run(folder, linked=linked)[1]
    except PublishedFolderError:
        return None


@pytest.mark.parametrize("why", EDITED)
def test_an_edited_folder_is_convicted_or_refused(why, written, tmp_path):
    assert judged(written, tmp_path / "edited", EDITED[why], linked=False) != set()


@pytest.mark.parametrize("why", OF_GROUPS)
def test_the_private_folder_convicts_whoever_changed_groups(why, written, tmp_path):
    assert fi.HOSTS in judged(written, tmp_path / "edited", EDITED[why], linked=True)


@pytest.mark.parametrize("gone", NAMES[:2])
def test_a_release_that_the_private_folder_has_is_missed_also_in_a_chain_that_is_closed(
    gone, written, tmp_path
):
    without = judged(written, tmp_path / "edited", lambda series: shutil.rmtree(series / gone), linked=True)
    assert fi.CHAIN in without


@pytest.mark.parametrize(
    ("gone", "linked"), [([0], 0), ([1], 0), ([2], 0), ([2], 1), ([0, 1], 0), ([0, 2], 0), ([1, 2], 0)]
)
def test_a_release_that_only_the_truth_has_is_not_decided(gone, linked, written, tmp_path):
    def edit(series):
        for number in gone:
            shutil.rmtree(series / NAMES[number])

    folder = tmp_path / "edited"
    assert judged(written, folder, edit, linked=bool(linked)) == set()
    found = json.loads((folder / "report/audit.json").read_text())
    chain = next(row for row in found["promises"] if row["promise"] == fi.CHAIN)
    assert chain["undecided"] == len(gone)
    assert found["verdict"].startswith("No promise is broken; ")
    assert found["account"][2]["what"].endswith("{} true tables of no release that was given.")


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("why", HONEST)
def test_a_folder_that_keeps_what_it_says_is_acquitted(why, linked, written, tmp_path):
    assert judged(written, tmp_path / "honest", HONEST[why], linked) == set()
