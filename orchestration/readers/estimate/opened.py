"""A release's tables opened by the statements of `estimate.sql`, as benchmarks and tests ask them."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

import duckdb

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.storage.manifest import DATA_PACKAGE
from republish.orchestration.storage.parts import pattern_of


def prepared(folder: Path, statements: str, each: str = "") -> duckdb.DuckDBPyConnection:
    """A connection on which a release's statements were run, and that reaches nothing but what they read.

    Parameters
    ----------
    folder
        The release, or a folder with its tables.
    each
        The pattern of the releases in the folder, as in `/*`, where it is none itself.

    Raises
    ------
    PublishedFolderError
        If the tables have not the columns that the statements ask for.
    """
    # What does not fit into memory goes to the folder of temporary files, and not to the one somebody is in.
    spilled = Path(tempfile.gettempdir()) / f"republish-{secrets.token_hex(8)}"
    connection = duckdb.connect(config={"temp_directory": str(spilled)})
    connection.execute("SET VARIABLE folder = $folder", {"folder": pattern_of(folder) + each})
    if each:
        # Tables are joined as the statements say. DuckDB's own order joins a small table with itself first,
        # for all releases: from some hundred releases on, that takes twenty times as long.
        connection.execute("SET disabled_optimizers = 'join_order'")
    try:
        connection.execute(statements)
    except duckdb.Error as error:
        connection.close()
        if isinstance(error, duckdb.OutOfMemoryException):
            raise
        raise PublishedFolderError(
            f"{folder}: its tables are not what {DATA_PACKAGE} says: {str(error).splitlines()[0]}"
        ) from None
    connection.execute("RESET disabled_optimizers")
    # What runs from here on has a researcher's words in it.
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection
