"""What the first release after an install costs, beside the second: `first_release.py REPUBLISH FOLDER`.

600 made-up people. Ends with an error if the first takes half as much again, or eight processor seconds more.
"""

import random
import resource
import subprocess
import sys
from pathlib import Path

RELEASES = ("2025-01-01", "2025-04-01")
VALUES = ("asthma", "cold", "flu", "gout", "ulcer", "migraine")


def cpu_seconds(*words: str | Path) -> float:
    """Processor seconds of a command and of the processes that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(republish: str, folder: Path) -> None:
    """Make the snapshots, draft a contract, and release twice."""
    draw = random.Random(1)
    people = [
        (number, draw.randint(1940, 2005), draw.choice("FM"), draw.choice("ABCDE"), draw.choice(VALUES))
        for number in range(630)
    ]
    folder.mkdir()
    for at, release in enumerate(RELEASES):
        rows = [("person", "born", "sex", "town", "diagnosis"), *people[30 * at : 30 * at + 600]]
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (folder / f"{release}.csv").write_text(text)
    contract, home = folder / f"{folder.name}.yaml", folder / "home"
    subprocess.run([republish, "init", folder, "--yes", "--out", contract], check=True)
    release = (republish, "release", contract, "--home", home, "--yes")
    first, second = cpu_seconds(*release, "--through", RELEASES[0]), cpu_seconds(*release)
    print(f"the first release of 600 people takes {first:.1f} CPU s, the second {second:.1f}")
    if first > min(1.5 * second, second + 8):
        sys.exit("the first release takes too long beside the second")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
