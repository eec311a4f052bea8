"""A command line in this process."""

import sys

import pytest

from republish.orchestration.cli import main as cli


@pytest.fixture
def republish(monkeypatch, capfd):
    """Run a command in this process: exit code, output lines, error lines."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capfd.readouterr()
        assert "\x1b" not in told.out + told.err
        return ended.value.code or 0, told.out.splitlines(), told.err.splitlines()

    return run
