"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from orchestration.home import private_folder


def write_table(file: Path, table: pl.DataFrame) -> None:
    """Write Parquet with no more metadata than the format needs; the same table gives the same bytes."""
    _write(file, lambda partial: table.write_parquet(partial, compression="zstd", statistics=False))


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    """Write JSON, keys in the order given."""
    _write(file, lambda partial: partial.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))


def write_folder(
    folder: Path, tables: Mapping[str, pl.DataFrame], manifest: Callable[[Path], Mapping]
) -> None:
    """Write a folder of tables with its manifest; it appears under its name when all of it is on disk.

    Parameters
    ----------
    folder
        Must not exist.
    tables
        The tables by name, without `.parquet`.
    manifest
        From the folder as written so far to what `manifest.json` is to say.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    private_folder(partial)
    for name, table in tables.items():
        write_table(partial / f"{name}.parquet", table)
    write_json(partial / "manifest.json", manifest(partial))
    _sync(partial)
    partial.rename(folder)
    _sync(folder.parent)


def read_json(file: Path) -> dict[str, Any] | None:
    """The JSON object in a file, or None where there is no such file or it isn't one."""
    try:
        content = json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def sha256(file: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write(file: Path, write: Callable[[Path], Any]) -> None:
    partial = private_folder(file.parent) / f".{file.name}.partial"
    # The mode is set before a byte is in the file: there is no moment at which others may read it.
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    write(partial)
    _sync(partial)
    partial.rename(file)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
