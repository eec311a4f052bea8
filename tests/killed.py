"""Starts a script that kills at every step, and says what it found."""

import os
import re
import subprocess
import sys

from tests.hospital import ROOT


def kill_points(script, *words):
    """The numbers that a script of kill points ends with, where none of them made a difference."""
    told = subprocess.run(
        [sys.executable, script, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=380,
    ).stdout.splitlines()
    assert told[:-1] == []
    return [int(number) for number in re.findall(r"\d+", told[-1])]
