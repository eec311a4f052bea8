"""Running the command line: exit codes, errors in one line, and a quick end."""

from __future__ import annotations

import errno
import gc
import os
import sys

from republish.anonymize.errors import RepublishError, as_data
from republish.orchestration.cli.app import app
from republish.orchestration.cli.terminal import err
from republish.orchestration.extras import not_installed
from republish.orchestration.variables import VARIABLES


def run() -> None:
    """Run the command line as a process of its own, which ends as soon as it is done.

    To look all that is imported over for garbage, and take it apart in the end, is a fifth of its time.
    """
    gc.set_threshold(100_000, 50, 100)
    os.environ |= VARIABLES
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # of a pipe that is closed, or a full disk that it is written to
        code = 1
    os._exit(code if isinstance(code, int) else 1)


def main() -> None:
    """Run the command line; errors are one line on stderr, and a traceback with --debug."""
    try:
        app(prog_name="republish")
    except RepublishError as error:
        _fail(error, str(error), error.exit_code)
    except BrokenPipeError:  # the program that reads the output, `head` say, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:
            place = "standard output, or the folder of temporary files"
            _fail(error, f"{place}: {error.strerror}. Make room there, and run again", 1)
        _fail(error, ": ".join(str(part) for part in (error.filename, error.strerror) if part), 1)
    except ModuleNotFoundError as error:
        _fail(error, not_installed(error), 1)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the last resort, panics of Rust too: one line, exit code 1
        _fail(error, f"unexpected {type(error).__name__}; run again with --debug to see where", 1)


def _fail(error: BaseException, message: str, code: int) -> None:
    if "--debug" in sys.argv:
        if err.is_terminal:
            err.print_exception()
        else:
            sys.excepthook(type(error), error, error.__traceback__)
    lines = map(as_data, f"republish: {message}".split("\n"))
    sys.stderr.write("\n".join(lines) + "\n")
    raise SystemExit(code) from None
