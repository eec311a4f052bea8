"""Made-up visits: people come, leave and come again, have several diagnoses, and more of them as time goes by."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

VALUES = tuple(f"d{number:02}" for number in range(24))
DECLARED = {
    "product": "clinic",
    "series": "v1",
    "source": {"path": "{release}.csv"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
    "identifier": "patient",
    "rows": "several",
    "row": "visit",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 99]},
        {"name": "ward", "kind": "category", "order": ["A", "B", "C", "D"]},
    ],
    "sensitive": {"name": "diagnosis", "values": list(VALUES)},
    "principle": {"name": "m_invariance", "m": 3, "values_per_person": 3},
}


def visits(
    patients: int, releases: int, seed: int = 1, *, values: int = len(VALUES), most: int = 3
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The date and the visits of each release: `patient`, `visit`, `age`, `ward`, `diagnosis`.

    Nearly every second patient has several diagnoses, at most `most`; some get another one between releases.
    Each visit is in a patient's own ward, or in any. A tenth of the patients leaves before each release, and
    some of these return two releases later.
    """
    rng = np.random.default_rng(seed)
    chance = 1 / (np.arange(values) + 6)
    chance /= chance.sum()
    everybody: list[list[int]] = []
    rows: list[tuple[int, int, str, int]] = []
    away: dict[int, int] = {}

    def arrive(number: int) -> None:
        for _ in range(number):
            several = 1 + rng.binomial(most - 1, 0.3)
            everybody.append(rng.choice(values, several, replace=False, p=chance).tolist())
            for _ in range(1 + rng.poisson(1.5)):
                visit(len(everybody) - 1)

    def visit(patient: int) -> None:
        ward = "ABCD"[patient % 4 if rng.random() < 0.7 else rng.integers(4)]
        rows.append((patient, len(rows), ward, int(rng.choice(everybody[patient]))))

    arrive(patients)
    for release in range(releases):
        for patient in range(len(everybody)) if release else ():
            if rng.random() < 0.05 and len(everybody[patient]) < most:
                everybody[patient].append(int(rng.choice(values, p=chance)))
            if rng.random() < 0.2:
                visit(patient)
        if release:
            arrive(patients // 10)
        here = [one for one in rows if away.get(one[0], 0) <= release]
        yield (
            f"2024-{release + 1:02}-01",
            pl.DataFrame(
                {
                    "patient": [f"P{one[0]}" for one in here],
                    "visit": [f"V{one[1]}" for one in here],
                    "age": [one[0] * 7 % 100 for one in here],
                    "ward": [one[2] for one in here],
                    "diagnosis": [VALUES[one[3]] for one in here],
                }
            ),
        )
        for patient in rng.choice(len(everybody), len(everybody) // 10, replace=False):
            away[int(patient)] = release + (3 if rng.random() < 0.4 else releases)
