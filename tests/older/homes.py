"""Makes the homes of `X.Y.Z.tar.xz` with the version of republish that is named: not part of any test.

    git worktree add /tmp/v019 1883b444 && make -C /tmp/v019 setup
    python tests/older/homes.py /tmp/v019/.venv/bin/republish /tmp/homes tests/older/0.19.0.tar.xz

Each kind is a folder: `contract.yaml`, a snapshot for each release (CSV) and the home `var`, in which the
version released all but the last one. Nobody in the snapshots is real. What a home has of its machine is left
out: Dagster's own tables, which grow larger than all else, the contracts' places, and locks.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

RELEASES = ("2024-01-01", "2024-04-01", "2024-07-01", "2024-10-01")
PUBLISHED = 3
PEOPLE = 48
TOWNS = ("Ayton", "Beeford", "Ceeham", "Deeley", "Eastwick", "Farnley")
DISEASES = ("asthma", "bronchitis", "diabetes", "flu", "gastritis", "gout", "migraine", "none", "stroke")
OFTEN = (3, 2, 2, 3, 2, 2, 2, 3, 1)
TREATMENTS = ("diet", "drug", "rest", "surgery", "talk")
COSTS = (0, 50, 120, 150, 250, 330, 500, 700, 1000, 1500, 3000)
LEFT_OUT = ("dagster", "contracts.json")
COLUMNS = ("person", "visit", "age", "town", "disease", "treatment", "cost")

DISEASE = {"name": "disease", "values": list(DISEASES)}
TREATMENT = {"name": "treatment", "values": list(TREATMENTS)}
COST = {"name": "cost", "kind": "number", "bins": [0, 100, 140, 200, 300, 400, 600, 800, 1600, 3200]}
PLACES = {
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 120], "min_width": 5},
        {"name": "town", "kind": "category", "order": list(TOWNS)},
    ]
}
EXACT = {
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 120]},
        {"name": "town", "kind": "category", "order": list(TOWNS)},
    ]
}
PARTS = {"asthma": "lungs", "bronchitis": "lungs", "diabetes": "blood", "stroke": "blood", "gout": "joints"}
INVARIANCE = {"name": "m_invariance", "m": 3, "on_ineligible": "wait"}

KINDS: dict[str, dict] = {
    "m_invariance": PLACES | {"sensitive": DISEASE, "principle": INVARIANCE},
    "anatomy": EXACT | {"sensitive": DISEASE, "principle": INVARIANCE | {"format": "anatomy"}},
    "several_rows": PLACES
    | {
        "rows": "several",
        "row": "visit",
        "sensitive": DISEASE,
        "principle": INVARIANCE | {"values_per_person": 2},
    },
    "two_columns": PLACES
    | {"sensitive": [DISEASE, TREATMENT], "principle": INVARIANCE | {"on_value_change": "hold_back"}},
    "may_be_known": PLACES | {"sensitive": DISEASE | {"not_sensitive": ["none"]}, "principle": INVARIANCE},
    "bins": PLACES | {"sensitive": COST, "principle": INVARIANCE},
    "spread": PLACES
    | {
        "sensitive": COST,
        "principle": INVARIANCE | {"spread": {"cost": {"ratio": 2}}, "on_value_change": "hold_back"},
    },
    "hierarchy": {
        "quasi_identifiers": [
            PLACES["quasi_identifiers"][0],
            {
                "name": "town",
                "kind": "category",
                "min_width": 2,
                "hierarchy": [
                    [town, region, "any"]
                    for town, region in zip(TOWNS, ("north", *4 * ("middle",), "south"), strict=True)
                ],
            },
        ],
        "sensitive": {
            "name": "disease",
            "level": 1,
            "hierarchy": [
                [one, PARTS.get(one, one if one == "none" else "other parts"), "any"] for one in DISEASES
            ],
        },
        "principle": {"name": "m_invariance", "m": 2, "on_ineligible": "wait"},
    },
    "shards": PLACES
    | {"shards": 2, "sensitive": DISEASE, "principle": INVARIANCE | {"on_value_change": "hold_back"}},
    "holds_back": PLACES
    | {
        "sensitive": DISEASE,
        "principle": INVARIANCE | {"on_ineligible": "defer", "on_value_change": "hold_back"},
    },
    "e_equivalence": EXACT
    | {
        "sensitive": DISEASE,
        "principle": {"name": "e_equivalence", "m": 2, "e": 2, "on_ineligible": "defer"},
    },
    "global_guarantee": PLACES
    | {
        "sensitive": DISEASE | {"semantics": "transient"},
        "principle": {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 4},
    },
    "streamliner": PLACES
    | {
        "sensitive": DISEASE,
        "principle": {
            "name": "streamliner",
            "l": 3,
            "merge": "ncp",
            "then": "m_invariance",
            "on_ineligible": "defer",
            "on_value_change": "hold_back",
        },
    },
    "sequential": {
        "columns": [
            {"name": "age", "kind": "number", "domain": [0, 120]},
            {"name": "town", "kind": "category", "order": list(TOWNS)},
        ],
        "principle": {
            "name": "sequential",
            "requirement": "linkability",
            "k": 0.9,
            "x": ["age", "town"],
            "y": ["disease"],
            "previous": [{"path": "earlier.csv", "columns": ["town", "disease"]}],
        },
    },
}
"""What each kind's contract says of columns and principle; each is a product of its own home."""


def rows(kind: str, release: int) -> list[dict]:
    """The rows of a snapshot: a seventh is new, a tenth absent; of a few people the value changes once."""
    if kind == "sequential":
        release = 0  # views are of the same people
    often = (
        (3, 2, 2, 18, 2, 2, 2, 3, 1) if kind in ("holds_back", "e_equivalence") and release == 1 else OFTEN
    )
    people = []
    for person in range(PEOPLE + 8 * release):
        own = random.Random(f"{kind} {person}")
        is_there = [own.random() < 0.9 for _ in RELEASES]
        is_new = person >= PEOPLE + 8 * (release - 1)
        first = own.choices(range(9), weights=often if is_new else OFTEN)[0]
        other, changes = own.randrange(9), own.choices((None, 1, 2, 3), weights=(14, 1, 1, 1))[0]
        # Whoever came under other weights keeps the value.
        if kind in ("holds_back", "e_equivalence") and PEOPLE <= person < PEOPLE + 8:
            first = 3 if person < PEOPLE + 6 else first
        disease = other if changes is not None and release >= changes else first
        if kind == "global_guarantee":  # which needs values that are equally frequent
            disease = (person + release * (person % 4 == 0)) % 9
        if not is_there[release]:
            continue
        people.append(
            {
                "person": f"P{person:03}",
                "visit": f"P{person:03}a",
                "age": own.randint(18, 90) + release // 2,
                "town": own.choice(TOWNS),
                "disease": DISEASES[disease],
                "treatment": TREATMENTS[(first + person % 3) % 5],
                "cost": COSTS[(own.randrange(11) + disease) % 11],
            }
        )
    if kind == "several_rows":
        more = [one for one in people if int(one["person"][1:]) % 3 == 0]
        people += [
            one
            | {
                "visit": one["person"] + "b",
                "disease": DISEASES[(DISEASES.index(one["disease"]) + 4) % 9],
            }
            for one in more
        ]
    return people


def make(folder: Path, kind: str) -> None:
    """Write a kind's contract and snapshots."""
    contract = {
        "product": kind,
        "series": "v1",
        "description": f"Made-up people, for {kind}.",
        "source": {"path": "{release}.csv"},
        "releases": {"first": RELEASES[0], "cron": "0 0 1 */3 *", "last": RELEASES[-1]},
        "identifier": "person",
        "expect": {"changed": 0.5, "counterfeits": 0.9},
        **KINDS[kind],
    }
    (folder / "contract.yaml").write_text(json.dumps(contract, indent=1) + "\n")  # which is YAML, too
    if kind == "sequential":
        write(folder / "earlier.csv", rows(kind, 0), ("town", "disease"))
    for number, release in enumerate(RELEASES):
        write(folder / f"{release}.csv", rows(kind, number))


def write(file: Path, people: list[dict], columns: tuple[str, ...] = COLUMNS) -> None:
    """Write a snapshot, or what others published."""
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(people)


def pack(folder: Path, archive: Path) -> None:
    """Pack all kinds, without what differs from one machine to the next."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if any(f"/var/{left_out}" in entry.name for left_out in LEFT_OUT) or entry.name.endswith("lock"):
            return None
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        return entry

    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for kind in KINDS:
            packed.add(folder / kind, kind, filter=plain)


def main(republish: str, folder: Path, archive: Path, *kinds: str) -> None:
    """Make and pack all kinds, or make those that are named."""
    for kind in kinds or KINDS:
        shutil.rmtree(folder / kind, ignore_errors=True)
        (folder / kind).mkdir(parents=True)
        make(folder / kind, kind)
        through = ["--through", RELEASES[PUBLISHED - 1], "--home", "var"]
        done = subprocess.run(
            [republish, "release", "contract.yaml", *through], cwd=folder / kind, check=False, text=True,
            capture_output=True,
        )  # fmt: skip
        sys.stdout.write(f"{kind}\n{done.stdout}{done.stderr}")
    if not kinds:
        pack(folder, archive)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
