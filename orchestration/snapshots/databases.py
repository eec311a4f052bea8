"""Databases as sources: files of DuckDB and SQLite, and PostgreSQL servers, asked to read only.

What a database says of a failure may quote a person's value, or a password from the dsn. Of what it says
about data, its own words and the query's names are passed on, and no value.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pyarrow as pa

from republish.anonymize.contract import NO_DATABASE, QuerySource
from republish.anonymize.contract.source import begin_of_file
from republish.anonymize.errors import SnapshotError
from republish.orchestration.processes import begin_process
from republish.orchestration.snapshots.arrow import Answer
from republish.orchestration.snapshots.files import check_file
from republish.orchestration.snapshots.sqlite_file import QueryError, sqlite_answer
from republish.orchestration.storage.scratch import spill_folder
from republish.orchestration.storage.statements import statement

SQLITE = "sqlite:///"
CONNECT_SECONDS = 10
THERE_IS_NONE = "there is no such database; correct source.dsn in the contract, or put it there"
BATCH = 100_000
"""Rows that DuckDB gives at a time."""
ZONE = "UTC"
"""The time zone in which a database compares moments with dates; manifests name it. Otherwise that of the
machine, the server or the account would decide on which day somebody was seen."""

Part = Any
"""A part of an answer: first its schema (pyarrow.Schema), then its rows (pyarrow.RecordBatch)."""


def ask(
    source: QuerySource, release: str, folder: Path, where: str, *, around: str = "", column: str = ""
) -> Answer:
    """Ask a database a source's query; it goes on answering while its rows are read.

    Parameters
    ----------
    source
        Where the database is, and its query: one SELECT, in which `:release` stands for the release's date.
    folder
        The contract's: relative paths begin there.
    around
        The statement that asks for something of the answer, in place of all of it; and the `column` in it.

    Raises
    ------
    SnapshotError
        If the database can't be asked, or the query isn't one SELECT or fails: at once or when rows are read.
    """
    query = source.query
    bound, file = _without_end(_bind(query, dt.date.fromisoformat(release))), database_file(source, folder)
    quoted = '"{}"'.format(column.replace('"', '""'))
    asked = statement(around).replace("{column}", quoted) if around else "{query}"
    if file is None and source.dsn != NO_DATABASE:
        parts = _ask_postgresql(source.dsn, bound, asked, query, where)
    else:
        if file is not None:
            check_file(file, where, THERE_IS_NONE)
        if file is not None and source.dsn.startswith(SQLITE):
            parts = _ask_sqlite(file, query, asked, release, where)
        else:
            parts = _ask_duckdb(file, bound, asked, query, folder, where)
    return Answer(next(parts), parts)


def has_row(source: QuerySource, release: str, folder: Path, where: str) -> bool:
    """Whether a query answers with a row; arguments and errors as those of `ask`.

    A file that is not there, and whose name has the release in it, has not arrived: False.
    """
    try:
        answer = ask(source, release, folder, where, around="select_any_row")
        return bool(sum(batch.num_rows for batch in answer.batches))
    except _NoSuchFile as missing:
        if release == _ANOTHER:
            raise
        try:
            has_row(source, _ANOTHER, folder, where)
        except _NoSuchFile as other:
            if other.pattern == missing.pattern:
                raise
        return False


_ANOTHER = "0001-01-01"
"""A date that no release has: what a query names for it, and for a release as well, is not the release's."""


def answer_mark(source: QuerySource, release: str, folder: Path, where: str, identifier: str) -> str:
    """How many rows a query answers, and the lowest and the highest identifier; the rest as `ask` has it.

    Without an identifier in the answer, which reading it says, the rows alone are counted.
    """
    try:
        answer = ask(source, release, folder, where, around="select_mark", column=identifier)
        return str([batch.to_pylist() for batch in answer.batches])
    except SnapshotError:
        answer = ask(source, release, folder, where, around="select_rows")
        return str([batch.to_pylist() for batch in answer.batches])


class _NoSuchFile(SnapshotError):
    """A query reads a file, or files of a pattern, and there is none."""

    def __init__(self, message: str, pattern: str):
        super().__init__(message)
        self.pattern = pattern


def database_file(source: QuerySource, folder: Path) -> Path | None:
    """The file of a database; None of a server's, and of a query that reads files alone."""
    begin = begin_of_file(source.dsn)
    return None if begin is None else folder / source.dsn.removeprefix(begin)


def place_of(source: QuerySource, folder: Path) -> str:
    """Where a database is: its file, or its server without user, password and options."""
    file = database_file(source, folder)
    if source.dsn == NO_DATABASE:
        return "the files of source.query"
    return _server(source.dsn) if file is None else str(file)


_SKIPPED = r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
               | --[^\n]* | /\*.*?\*/ | ::"""
_PARAMETER = re.compile(rf"(?P<skipped>{_SKIPPED}) | :release\b", re.VERBOSE | re.DOTALL)


def _bind(query: str, release: dt.date) -> str:
    """The query with `:release` as the release's date.

    It is written out, not a parameter: both databases read an answer to parameters whole before they give a
    row of it. Text, quoted names, comments and casts (`::release`) are left as they are.
    """
    return _PARAMETER.sub(lambda found: found["skipped"] or f"CAST('{release}' AS DATE)", query)


_TOKEN = re.compile(rf"(?P<nothing>\s+|;|--[^\n]*|/\*.*?\*/) | {_SKIPPED} | .", re.VERBOSE | re.DOTALL)


def _without_end(query: str) -> str:
    """The query without comments and semicolons after it, so that it may stand in brackets."""
    ends = [token.end() for token in _TOKEN.finditer(query) if token["nothing"] is None]
    return query[: max(ends, default=0)]


_MAY_NAME_A_FILE = re.compile(r"""\b(?:read|scan|glob)|_scan\b|['"][^'"]*[./*?][^'"]*['"]""", re.IGNORECASE)


def _ask_duckdb(
    file: Path | None, bound: str, around: str, query: str, folder: Path, where: str
) -> Generator[Part]:
    """Ask a DuckDB file, or none where the query reads files alone.

    A relative path in the query begins in the folder.

    DuckDB looks for it in the working folder, whatever its settings say. So a query that may name a file is
    asked in a process of its own, whose working folder is the contract's.
    """
    is_here = folder == Path.cwd() or not _MAY_NAME_A_FILE.search(bound)
    asked = (file, bound, around)
    parts = _duckdb_answer(*asked) if is_here else _answer_in_folder(folder, *asked)
    reason, pattern = (
        "the query must be one SELECT that only reads; correct source.query in the contract",
        None,
    )
    try:
        for part in parts:
            reason = ""
            yield part
    except EOFError:
        reason = "the query's process ended before it answered; try it on the database"
    except duckdb.Error as error:
        reason, pattern = _duckdb_reason(error, query), _missing_file(error)
    # Here, and not above: an error that is chained to the driver's is printed with what the driver said.
    if pattern is not None:
        raise _NoSuchFile(f"{where}: {reason}", pattern)
    if reason:
        raise SnapshotError(f"{where}: {reason}")


_SAFE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
"""Files may be read, as docs say; DuckDB has no setting by which they may be read and not written."""
_OPENING = threading.Lock()
_READS = re.compile(
    r"(read|parquet)_\w+|glob|range|generate_series|repeat(_row)?|unnest|summary|json_(each|tree)"
    r"|duckdb_(tables|views|columns)",
    re.IGNORECASE,
)
"""Functions that answer with rows and do no more. One that isn't among them executes text as SQL."""


def _duckdb_answer(file: Path | None, bound: str, around: str) -> Generator[Part]:
    """The answer to a query; nothing if it is not one SELECT that only reads, which is found beforehand."""
    place = {"database": ":memory:"} if file is None else {"database": file, "read_only": True}
    with closing(_opened(**place)) as connection:
        if _only_reads(connection, bound):
            reader = connection.sql(around.replace("{query}", bound)).to_arrow_reader(BATCH)
            yield reader.schema
            try:
                yield from reader
            except (pa.ArrowException, OSError) as error:
                raise _of_duckdb(str(error)) from None


def _opened(**place: Any) -> duckdb.DuckDBPyConnection:
    """Open DuckDB, set its time zone, and let no query change a setting: it could turn on a log, in any file.

    DuckDB opens with no zone but the machine's. Two that ask one file at once have the same settings: the
    first one has locked them for both.
    """
    with _OPENING:
        # By itself, DuckDB writes what does not fit into memory beside the database, or where somebody is.
        settings = _SAFE | {"temp_directory": str(spill_folder())}
        connection = duckdb.connect(**place, config=settings)
        if not connection.execute(statement("select_is_locked")).fetchall()[0][0]:
            connection.execute(statement("set_zone_and_lock").replace("{zone}", ZONE))
    return connection


def _only_reads(connection: duckdb.DuckDBPyConnection, bound: str) -> bool:
    """Whether a query is one SELECT, and nothing in it writes; it is parsed and planned, and not executed.

    What is parsed is the query as its author wrote it. In the brackets of a statement of ours, two statements
    could look like one: `SELECT 1); COPY (SELECT 2`. What is planned is in brackets: alone, a SELECT may have
    a COPY or an INSERT among its WITH.
    """
    if [parsed.type for parsed in connection.extract_statements(bound)] != [duckdb.StatementType.SELECT]:
        return False
    ((_, plan),) = connection.execute(statement("explain_query").replace("{query}", bound)).fetchall()
    return all(_READS.fullmatch(function) for function in _functions(json.loads(plan)))


def _functions(plan: Any) -> Iterator[str]:
    """The functions that answer with rows in DuckDB's plan, those in views and macros among them."""
    for step in plan:
        said = step["extra_info"]
        yield from (said[name] for name in ("Function", "Name") if name in said)
        yield from _functions(step["children"])


def _of_duckdb(said: str) -> duckdb.Error:
    """The error whose words an Arrow reader passes on under another name; they begin with its own."""
    name = said.partition(" Error:")[0].replace(" ", "")
    return getattr(duckdb, f"{name}Exception", duckdb.Error)(said)


def _answer_in_folder(folder: Path, file: Path | None, bound: str, around: str) -> Generator[Part]:
    """Ask in a process whose working folder is this one. Raises EOFError if it ends too early."""
    process, pipe = begin_process(_tell_answer, folder, file, bound, around)
    try:
        while (part := pipe.recv()) is not None:
            if isinstance(part, duckdb.Error):
                raise part
            yield part
    except OSError:
        raise EOFError from None
    finally:
        pipe.close()
        process.kill()
        process.join()


def _tell_answer(folder: Path, file: Path | None, bound: str, around: str, asked: Connection) -> None:
    """Ask, and tell the answer to the process that began this one."""
    os.chdir(folder)
    try:
        for part in _duckdb_answer(file, bound, around):
            asked.send(part)
        asked.send(None)
    except duckdb.Error as error:
        asked.send(error)
    except Exception:  # noqa: BLE001 - what it says may quote a value, and would be printed
        return


def _ask_sqlite(file: Path, query: str, around: str, release: str, where: str) -> Generator[Part]:
    try:
        yield from sqlite_answer(file, _without_end(query), around, release)
    except QueryError as error:
        reason = _sqlite_reason(str(error), query)
    else:
        return
    raise SnapshotError(f"{where}: {reason}")


def _ask_postgresql(dsn: str, bound: str, around: str, query: str, where: str) -> Generator[Part]:
    """Ask a PostgreSQL server.

    Before it executes anything, the server parses the query as its author wrote it, and as that of a cursor:
    it takes no second statement, and nothing but a SELECT without an INSERT, UPDATE or DELETE among its WITH.
    """
    import adbc_driver_postgresql.dbapi as postgresql  # noqa: PLC0415 - only who has a server waits for it

    separator = "&" if "?" in dsn else "?"
    address = dsn if "connect_timeout=" in dsn else f"{dsn}{separator}connect_timeout={CONNECT_SECONDS}"
    try:
        with closing(postgresql.connect(address)) as connection, connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(f"SET TIME ZONE '{ZONE}'")
            cursor.adbc_execute_schema(statement("declare_query").replace("{query}", bound))
            cursor.execute(around.replace("{query}", bound))
            reader = cursor._results.reader  # noqa: SLF001 - fetch_record_batch() loses the SQLSTATE of errors
            yield reader.schema
            yield from reader
    except (postgresql.Error, pa.ArrowException, OSError) as error:
        reason = _postgresql_reason(str(error), getattr(error, "sqlstate", None) or "", query)
    else:
        return
    raise SnapshotError(f"{where}: {reason}")


# ---- what may be said of a database's failure


def _server(dsn: str) -> str:
    """Where a PostgreSQL database is, without user, password and options."""
    try:
        parts = urlsplit(dsn)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "postgresql://…"
    if "@" in parts.path:  # a password with a slash in it would be taken for the path
        return "postgresql://…"
    return f"postgresql://{host}{f':{port}' if port else ''}{parts.path}"


# What is said of these speaks of the query's own words and of names in the database, never of a value.
_OF_THE_QUERY = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
_CORRECT = "correct source.query in the contract"
_TRY = f"try it on the database, and {_CORRECT}"


def _duckdb_reason(error: duckdb.Error, query: str) -> str:
    said = str(error).splitlines()[0]
    if isinstance(error, _OF_THE_QUERY):
        return f"the query fails: {said}; correct source.query in the contract"
    if isinstance(error, duckdb.ConnectionException) or "set lock on" in said.lower():
        return "is open elsewhere for writing; try again when that is done"
    if (name := _missing_file(error)) is not None:
        there = name if name in query else "…"
        return f"the query fails: there is no file {there}; a relative path begins in the contract's folder"
    if isinstance(error, duckdb.IOException):
        return "is no DuckDB file that can be read, or a part of one; deliver it again"
    is_fixed = isinstance(error, _IN_FIXED_WORDS)
    return f"the query fails ({type(error).__name__}): {without_values(said, query, is_fixed)}; {_TRY}"


def _missing_file(error: duckdb.Error) -> str | None:
    """The file, or the pattern of files, that a query reads and that is not there; None of other errors."""
    found = re.search(r'match the pattern "([^"]*)"', str(error).splitlines()[0])
    return found[1] if found and isinstance(error, duckdb.IOException) else None


def _sqlite_reason(said: str, query: str) -> str:
    if "file is not a database" in said or "malformed" in said:
        return "is no SQLite file that can be read, or a part of one; deliver it again"
    if "is locked" in said:
        return "is open elsewhere for writing; try again when that is done"
    if any(words in said for words in ("prohibited", "not authorized", "one statement")):
        return f"the query must be one SELECT that only reads; {_CORRECT}"
    return f"the query fails: {without_values(said, query, is_fixed=True)}; {_TRY}"


def _postgresql_reason(said: str, state: str, query: str) -> str:
    if "Failed to connect" in said:
        # The rest may quote the dsn, and with it the password.
        refused = re.search(r"failed: (?:FATAL: +)?([^\n]*)", said)
        unknown = "could not translate host name" in said
        reason = (
            refused[1] if refused else "no such host" if unknown else "the dsn is no address that can be used"
        )
        return f"no connection to the database: {reason}; correct source.dsn, or try again when it is there"
    found = re.search(r"ERROR: +([^\n]*)", said)
    if state == "42601":  # syntax: of something else, maybe, than a SELECT
        return f"the query fails: {found[1] if found else state}; it must be one SELECT; {_CORRECT}"
    if state.startswith("42"):  # a name that isn't there
        return f"the query fails: {found[1] if found else state}; correct source.query in the contract"
    if state == "25006":
        return "the query would change the database; it must be one SELECT"
    reason = f": {without_values(found[1], query, state[:2] in _STATES_IN_FIXED_WORDS)}" if found else ""
    return f"the query fails (SQLSTATE {state or 'unknown'}){reason}; {_TRY}"


# In these, a database's own sentence has values between quotation marks and brackets, and as numbers. Others
# may be of a function whose author has put a value among the words: `error(name)`, `RAISE '%', name`.
_IN_FIXED_WORDS = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.OutOfMemoryException)
_STATES_IN_FIXED_WORDS = ("08", "22", "40", "53", "54", "55", "57", "58")
_ENCLOSES = re.compile(r"""['"`\u2018-\u201f\u00ab\u00bb\u2039\u203a(){}\[\]<>]""")
_SAID = frozenset(
    """
    a according allocate an and any argument array as at available be because bigint bit block boolean by byte
    bytes can canceling cannot cast casting character characters codepoint column constraint contains
    conversion convert converting could cursor data database date decimal destination digits disk division
    does double due element encoding enum error exceed exceeded exceeds expected expression failed field file
    float for format found from full function group huge hugeint if in index input int int128 int16 int32
    int64 int8 integer interval into invalid is it json key large length limit list literal lock log malformed
    map max maximum memory month more multiple must not null number numeric object of offset on one only
    operator or order out outside overflow parameter parse parsing pattern permission point precision query
    range record request required result return returned returns row rows scalar scale sequence server session
    size smallint source specifier statement storage string struct subquery syntax table target temporary than
    that the time timeout timestamp tinyint to too transaction type ubigint uint16 uint32 uint64 uint8
    uinteger unable unexpected unicode unsigned unterminated used using usmallint utf8 utinyint uuid valid
    value values varchar varying was when while with year zero zone
    """.split()  # noqa: SIM905 - as a list it would be a screen long
)
"""The words of databases' own messages about data, which quote values among them."""


def without_values(said: str, query: str, is_fixed: bool = False) -> str:
    """A database's words with … in place of all that may be a value.

    What remains is words that databases use themselves and names that the query has, numbers left out. If the
    sentence `is_fixed`, it is all of it but for numbers and what is between quotation marks or brackets.

    Quoted text in the query does not count as names.

    Examples
    --------
    >>> without_values("canceling since patient 17 overran", "SELECT 1", is_fixed=True)
    'canceling since patient … overran'
    >>> without_values("Could not convert string 'flu' to INT32 from column d", "SELECT d::int FROM t")
    "Could not convert string '…' to INT32 from column d"
    """
    names = {name.lower() for name in re.findall(r"[^\W\d]\w*", re.sub(r"'(?:[^']|'')*'", " ", query))}

    def unquoted(part: re.Match[str]) -> str:
        return part[0] if part[2].lower() in names else f"{part[1]}…{part[1]}"

    def plain(word: re.Match[str]) -> str:
        return word[0] if word[0].lower() in _SAID | names else "…"

    if is_fixed:
        marks = [found.start() for found in _ENCLOSES.finditer(said)]
        begin, end = (marks[0], marks[-1] + 1) if marks else (len(said), len(said))
        parts = (without_values(said[begin:end], query), *map(_without_numbers, (said[:begin], said[end:])))
        return "{1}{0}{2}".format(*parts)
    said = re.sub(r"""(?<!\w)(['"])(.*?)\1(?!\w)""", unquoted, said)
    return re.sub(r"…(?:[^\w'\"]*…)+", "…", re.sub(r"\w+", plain, said))


def _without_numbers(words: str) -> str:
    """Words without those that have a digit in them, but for names of types."""

    def masked(word: re.Match[str]) -> str:
        is_number = any(letter.isdigit() for letter in word[0])
        return "…" if is_number and word[0].lower() not in _SAID else word[0]

    return re.sub(r"…(?:[.,:-]*…)+", "…", re.sub(r"\w+", masked, words))
