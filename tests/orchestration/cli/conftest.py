"""A command line in this process."""

import sys

import pytest

from republish.orchestration.cli import main as cli


@pytest.fixture
def republish(monkeypatch, capfd):
    """Run a command in this process: exit code, output lines, error lines.

    The first line of `release` and `demo`, which names the home, is left out, and is its `home_line`.
    """

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capfd.readouterr()
        assert "\x1b" not in told.out + told.err
        lines = told.out.splitlines()
        is_named = words[:1] in (("release",), ("demo",)) and lines and " is published in " in lines[0]
        run.home_line = lines.pop(0) if is_named else None
        return ended.value.code or 0, lines, told.err.splitlines()

    return run
