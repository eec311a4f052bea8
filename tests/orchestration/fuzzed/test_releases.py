"""Published folders that nobody published: refused in one plain line, or counted as it stands there."""

import io
import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from rich.console import Console

from republish.anonymize.errors import ContractError, LimitError, PublishedFolderError, SnapshotError
from republish.orchestration.audit.command import audit
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.storage.hidden import check_tables
from republish.orchestration.storage.manifest import MANIFEST, verify_release
from republish.orchestration.storage.store import write_table
from tests.hospital import RELEASES
from tests.orchestration.audit.published_folders import NAMES, divide, seal, write_series
from tests.orchestration.fuzzed.mutations import json_text, mutated, mutated_text

pytestmark = pytest.mark.slow("makes and audits many releases")

REFUSED = (PublishedFolderError, SnapshotError, ContractError, LimitError)
TABLES = ("microdata", "counterfeits")
NUMBERS = (0, -1, 1, 2**31, 2**53 + 1, 2**62, -(2**63), None, 10**18)
TYPES = (
    pl.Int8,
    pl.Int32,
    pl.UInt64,
    pl.Float32,
    pl.Float64,
    pl.String,
    pl.Boolean,
    pl.Categorical,
    pl.Binary,
)
TYPES += (
    pl.Date,
    pl.Datetime("us"),
    pl.Duration("ms"),
    pl.Time,
    pl.Decimal(38, 5),
    pl.Int128,
    pl.List(pl.Int64),
)


@pytest.fixture(scope="module")
def published(_built):
    """A release of the hospital."""
    return _built / f"home/published/hospital/v1/{RELEASES[1]}"


@pytest.fixture(scope="module")
def in_parts(published, tmp_path_factory):
    """The same release with each table in parts."""
    series = shutil.copytree(published.parent, tmp_path_factory.mktemp("parts") / "v1")
    divide(series, rows=100)
    return series / published.name


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Three releases with their truth."""
    folder = tmp_path_factory.mktemp("audited")
    write_series(folder, count=40)
    return folder


@contextmanager
def copy_of(folder):
    with tempfile.TemporaryDirectory() as place:
        yield Path(shutil.copytree(folder, Path(place) / folder.name))


def plain_count(folder):
    """How many people a release says it has, by a reader that knows nothing of it."""
    tables = {name: sorted(folder.glob(f"{name}*/part*")) or [folder / f"{name}.parquet"] for name in TABLES}
    rows = sum(pq.read_metadata(file).num_rows for file in tables["microdata"])
    return rows - sum(sum(pq.read_table(file)["count"].to_pylist()) for file in tables["counterfeits"])


def verified_and_counted(folder):
    """Everything that reads a release: it refuses in one plain line, or finds as many people as there are."""
    said = None
    try:
        check_tables(folder, verify_release(folder))
        found = estimate(folder)
    except REFUSED as error:
        said = str(error)
    note(said or "counted")
    if said is None:
        assert found["people"].to_list() == [plain_count(folder)]
    else:
        assert said.isprintable()


def attacked(folder):
    """An audit reports something, or refuses in plain lines."""
    printed = io.StringIO()
    options = {"console": Console(file=printed, width=200), "seconds": 0.1}
    try:
        audit([folder / "published/hospital"], folder / "truth", folder / "contract.yaml", **options)
    except REFUSED as error:
        printed.write(str(error))
    note(printed.getvalue())
    assert all(line.isprintable() for line in printed.getvalue().splitlines())


@st.composite
def changed_file(draw, folder, names):
    """One of the JSON files of a release, and its content after a change."""
    name = draw(st.sampled_from(names))
    text = (folder / name).read_text()
    if draw(st.integers(0, 3)):
        return name, json_text(draw(mutated(json.loads(text))))
    return name, draw(mutated_text(text))


def another_value(draw, table, column):
    dtype, row = table.schema[column], draw(st.integers(0, len(table) - 1))
    entry = draw(st.sampled_from(NUMBERS)) if dtype.is_integer() else None
    if dtype == pl.String:
        entry = draw(st.one_of(st.none(), st.text(max_size=5), st.sampled_from(table[column].to_list())))
    other = pl.when(pl.int_range(pl.len()) == row).then(pl.lit(entry, dtype)).otherwise(column)
    return table.with_columns(other.alias(column))


def another_type(draw, table, column):
    dtype = draw(st.sampled_from(TYPES))
    try:
        return table.with_columns(pl.col(column).cast(dtype, strict=False))
    except pl.exceptions.PolarsError:
        return table.with_columns(pl.lit(None, dtype).alias(column))


def other_rows(draw, table, _):
    row, times = draw(st.integers(0, len(table) - 1)), draw(st.integers(0, 3))
    return pl.concat(
        [table[: draw(st.sampled_from((0, row)))], *[table[row : row + 1]] * times, table[row + 1 :]]
    )


def another_name(draw, table, column):
    return table.rename({column: draw(st.sampled_from(("x", "a\nb", "*", "^.*$", "\x1b[2K", "")))})


def one_more(draw, table, column):
    return table.with_columns(pl.col(column).alias(draw(st.sampled_from(("x", "AGE_LOW", "size", "a.b")))))


def another_order(draw, table, _):
    return draw(st.sampled_from((table.reverse(), table.select(reversed(table.columns)), table.clear())))


def two_swapped(draw, table, column):
    alike = [one for one in table.columns if table.schema[one] == table.schema[column]]
    if (other := draw(st.sampled_from(alike))) == column:
        return table.reverse()
    return table.with_columns(pl.col(column).alias(other), pl.col(other).alias(column))


def no_number(draw, table, column):
    value = draw(st.sampled_from((float("nan"), float("inf"), -float("inf"), -0.0)))
    return table.with_columns(pl.lit(value, pl.Float64).alias(column))


def one_less(_, table, column):
    return table.drop(column)


CHANGES = (
    another_value,
    another_type,
    other_rows,
    another_name,
    one_more,
    another_order,
    two_swapped,
    no_number,
)
CHANGES += (one_less,)


@st.composite
def changed_table(draw, folder):
    """A file of one of a release's tables, and its table after a change of columns, types, rows or values."""
    name = draw(st.sampled_from(sorted(f"{file.relative_to(folder)}" for file in folder.rglob("*.parquet"))))
    table = pl.read_parquet(folder / name)
    changes = [change for change in CHANGES if len(table) or change not in (another_value, other_rows)]
    return name, draw(st.sampled_from(changes))(draw, table, draw(st.sampled_from(table.columns)))


def rewritten(draw, file, table):
    """Write a table as republish does, or as another tool may."""
    match draw(st.sampled_from(("ours", "ours", "other", "metadata", "bytes"))):
        case "ours":
            write_table(file, table)
        case "other":
            table.write_parquet(file, row_group_size=draw(st.integers(1, 50)))
        case "metadata":
            table.write_parquet(file, compression="zstd", statistics=False, metadata={"note": "x"})
        case "bytes":
            write_table(file, table)
            content = bytearray(file.read_bytes())
            at = draw(st.integers(0, len(content) - 1))
            content[at] = draw(st.integers(0, 255))
            file.write_bytes(content)


def change_one(data, folder, names=(MANIFEST, "datapackage.json")):
    """Put another manifest or package into a release, or another table, and seal it if that can be done."""
    if data.draw(st.booleans()):
        name, text = data.draw(changed_file(folder, names))
        (folder / name).write_bytes(text.encode(errors="surrogatepass"))
    else:
        name, table = data.draw(changed_table(folder))
        rewritten(data.draw, folder / name, table)
    try:
        seal(folder)
    except Exception as error:  # noqa: BLE001 - whatever a forged manifest makes of it
        note(f"cannot be sealed: {type(error).__name__}")


@pytest.mark.parametrize("kept", ["whole", "in parts"])
@settings(max_examples=20)
@given(st.data())
def test_a_release_with_another_manifest_package_or_table(published, in_parts, kept, data):
    with copy_of(published if kept == "whole" else in_parts) as folder:
        change_one(data, folder)
        verified_and_counted(folder)


@pytest.mark.parametrize("release_format", ["", "views", "taxonomy_cuts", ["anatomy"], None])
def test_a_package_of_another_format_is_refused(published, release_format):
    with copy_of(published) as folder:
        package = json.loads((folder / "datapackage.json").read_text())
        package["republish"]["format"] = release_format
        (folder / "datapackage.json").write_text(json.dumps(package))
        seal(folder)
        with pytest.raises(PublishedFolderError):
            estimate(folder)


@pytest.mark.parametrize("own", [None, [], "groups"])
def test_a_package_that_states_nothing_of_ours_is_refused(published, own):
    with copy_of(published) as folder:
        package = json.loads((folder / "datapackage.json").read_text())
        (folder / "datapackage.json").write_text(json.dumps(package | {"republish": own}))
        seal(folder)
        with pytest.raises(PublishedFolderError, match=r"has no datapackage\.json"):
            estimate(folder)


@settings(max_examples=24)
@given(st.data())
def test_an_audit_of_a_release_with_another_manifest_table_or_truth(audited, data):
    with copy_of(audited) as folder:
        release = data.draw(st.sampled_from(NAMES))
        if data.draw(st.integers(0, 2)):
            change_one(data, folder / "published/hospital/v1" / release, [MANIFEST])
        else:
            file = folder / f"truth/{release}.parquet"
            (folder / "t").mkdir()
            shutil.copy(file, folder / "t")
            _, table = data.draw(changed_table(folder / "t"))
            table.write_parquet(file)
        attacked(folder)
