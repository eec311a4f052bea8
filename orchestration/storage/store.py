"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from republish.anonymize.errors import HomeError
from republish.orchestration.limits import check
from republish.orchestration.storage.home import (
    NO_ROOM,
    for_the_group,
    no_room,
    private_folder,
    sync,
)

_log = logging.getLogger(__name__)

T = TypeVar("T")
SUMS = "SHA256SUMS"
"""The digests of all files of a published folder, its manifest included, as coreutils check them."""
PARTIAL = ".partial"
"""A half-written file is named `.<name>.partial`, lies beside its place, and never counts."""


def write_table(file: Path, table: pl.DataFrame) -> None:
    """Write Parquet with no more metadata than the format needs; the same table gives the same bytes."""
    _write(file, lambda partial: encode_table(table, partial))


def write_working_table(file: Path, table: pl.DataFrame, block: int | None = None) -> None:
    """Write Parquet that is never published. Pseudonyms, most of it, can't be packed: less is tried.

    `block` rows are the fewest that can be read of it (`read_rows`); None for as many as polars has it.
    """
    _write(file, lambda partial: encode_table(table, partial, effort=1, block=block))


def encode_table(
    table: pl.DataFrame, into: Path | BytesIO, effort: int | None = None, block: int | None = None
) -> None:
    """The Parquet that a table is published as: its bytes depend on its rows alone.

    `effort` is a level of zstd, and `block` the rows of a group, of files that are not published.
    """
    table.rechunk().write_parquet(
        into, compression="zstd", compression_level=effort, statistics=False, row_group_size=block
    )


def write_csv(file: Path, table: pl.DataFrame) -> None:
    """Write a table for people to read; text that a spreadsheet would run begins with an apostrophe."""
    is_formula = pl.col(pl.String).str.contains(r"^[=+\-@\t\r]")
    table = table.with_columns(
        pl.when(is_formula).then(pl.lit("'") + pl.col(pl.String)).otherwise(pl.col(pl.String)).name.keep()
    )
    _write(file, table.write_csv)


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    """Write JSON, keys in the order given; the same bytes under every locale."""
    write_text(file, json_text(content))


def json_text(content: Mapping[str, Any]) -> str:
    """JSON as it is written into files."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_text(file: Path, text: str) -> None:
    """Write text in UTF-8, its lines as they are."""
    write_bytes(file, text.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """Write bytes."""
    _write(file, _writing(content))


def _writing(content: bytes) -> Callable[[Path], Any]:
    return lambda partial: partial.write_bytes(content)


def write_together(folder: Path, files: Mapping[str, str | bytes], gone: Sequence[str] = ()) -> list[Path]:
    """Write files of a folder, texts in UTF-8, all of them or none; returns their paths.

    `gone` are names of earlier files there that are of no use beside the new ones: they are removed. Raises
    HomeError, which names the file, where one can't be written.
    """
    is_new = not folder.exists()
    halves = {folder / name: folder / f".{name}{PARTIAL}" for name in files}
    for file in halves:
        if file.is_dir():  # found before one of them has its name
            raise HomeError(_not_written(file, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))))
    try:
        for (file, half), content in zip(halves.items(), files.values(), strict=True):
            _write(half, _writing(content.encode() if isinstance(content, str) else content), file)
        for name in gone:
            (folder / name).unlink(missing_ok=True)
        for file, half in halves.items():
            half.rename(file)
    except BaseException:
        with suppress(OSError):
            for half in halves.values():
                half.unlink(missing_ok=True)
            if is_new:
                folder.rmdir()
        raise
    return list(halves)


def write_copy(file: Path, original: Path) -> None:
    """Write a copy of a file, unless it is there already, byte for byte."""
    content = original.read_bytes()
    if not file.is_file() or file.read_bytes() != content:
        write_bytes(file, content)


def write_folder(
    folder: Path,
    files: Mapping[str, Path | str],
    manifest: Callable[[Path], Mapping[str, Any]],
    sums: Callable[[Path, Mapping[str, Any]], str] | None = None,
) -> None:
    """Write a folder of files with its manifest; it appears under its name when all of it is on disk.

    A copy of it can be read by whoever gets it: files have mode 0644 and the folder 0755. What protects
    the original is the home that it lies in.

    Parameters
    ----------
    folder
        Must not exist.
    files
        By the names they are to have, with one folder before it at most: files to be copied, or texts.
    manifest
        From the folder as written so far to what `manifest.json` is to say.
    sums
        From the folder with its manifest, and what it says, to the text of `SHA256SUMS`; None for none.
    """
    partial = folder.with_name(f".{folder.name}{PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    private_folder(partial)
    try:
        for name, content in files.items():
            if isinstance(content, str):
                write_text(partial / name, content)
            else:
                write_copy(partial / name, content)
        stated = manifest(partial)
        write_json(partial / "manifest.json", stated)
        if sums is not None:
            write_text(partial / SUMS, sums(partial, stated))
        make_public(partial)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)  # the disk may be full of it
        raise
    sync(folder.parent)


def make_public(folder: Path) -> None:
    """Let everybody read a folder, those in it and their files, as far as they can reach it."""
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_dir():
            sync(path)


def clear_partial(folder: Path) -> None:
    """Remove what a run that was killed left half written in a folder. Whoever calls holds its lock."""
    for partial in folder.glob(f".*{PARTIAL}"):
        if partial.is_dir():
            shutil.rmtree(partial)
        else:
            partial.unlink()


def read_table(file: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A table of the publisher's own working files, or some of its columns.

    Raises HomeError if it is not there, or is no Parquet file that can be read.
    """
    return _read(file, lambda: pl.read_parquet(file, columns=columns, glob=False, hive_partitioning=False))


def read_rows(file: Path, start: int, rows: int) -> pl.DataFrame:
    """So many rows of a table from one on, counted from 0. Raises as `read_table` does."""
    return _read(
        file,
        lambda: pl.scan_parquet(file, glob=False, hive_partitioning=False).slice(start, rows).collect(),
    )


def read_columns(file: Path) -> list[str]:
    """The names of the columns of a table. Raises as `read_table` does."""
    return _read(file, lambda: pl.scan_parquet(file, glob=False).collect_schema().names())


def _read(file: Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise HomeError(
            f"{file}: is not there, or is no Parquet file that can be read. Put it back from a copy"
        ) from None


def read_json(file: Path) -> dict[str, Any] | None:
    """The JSON object in a file, or None where there is no such file or it isn't one."""
    try:
        check(file, "text", file.stat().st_size)
        content = json.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def sha256(file: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write(file: Path, write: Callable[[Path], Any], named: Path | None = None) -> None:
    """Write a file, whole or not at all; `named` is how it is called in an error, if not by its own name."""
    partial, is_new = file.with_name(f".{file.name}{PARTIAL}"), not file.parent.exists()
    try:
        private_folder(file.parent)
        # The mode is set before a byte is in the file: there is no moment at which others may read it.
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        for_the_group(partial)
        write(partial)
        sync(partial)
        partial.rename(file)
        sync(file.parent)
    except (OSError, pl.exceptions.PolarsError) as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
            if is_new:
                file.parent.rmdir()
        raise HomeError(_not_written(named or file, error)) from None


def _not_written(file: Path, error: OSError | pl.exceptions.PolarsError) -> str:
    """Why a file can't be written, and the way out."""
    # "underlying IO error: No space left on device (os error 28)", says polars.
    said = re.search(r"\(os error (\d+)\)", str(error))
    number = int(said[1]) if said else getattr(error, "errno", None)
    if number in NO_ROOM:
        return f"{no_room(file, number)}: what is published is untouched"
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0].rpartition("IO error: ")[2]
    return f"{file}: can't be written: {reason}. See to it, and run again: what is published is untouched"
