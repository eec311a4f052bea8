"""Made-up visits: people come, leave and come again, have several diagnoses, and more as time goes by."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    clinic = _Clinic(rng, chance / chance.sum(), most)
    clinic.arrive(patients)
    away: dict[int, int] = {}
    for release in range(releases):
        if release:
            clinic.go_on()
            clinic.arrive(patients // 10)
        yield f"2024-{release + 1:02}-01", clinic.table(lambda one: away.get(one, 0) <= release)  # noqa: B023
        everybody = len(clinic.diagnoses)
        for patient in rng.choice(everybody, everybody // 10, replace=False):
            away[int(patient)] = release + (3 if rng.random() < 0.4 else releases)


class _Clinic:
    """Everybody's diagnoses, and the visits so far."""

    def __init__(self, rng: np.random.Generator, chance: np.ndarray, most: int):
        self.rng, self.chance, self.most = rng, chance, most
        self.diagnoses: list[list[int]] = []
        self.visits: list[tuple[int, str, int]] = []

    def arrive(self, patients: int) -> None:
        """New patients have their diagnoses and their first visits."""
        for _ in range(patients):
            several = 1 + self.rng.binomial(self.most - 1, 0.3)
            own = self.rng.choice(len(self.chance), several, replace=False, p=self.chance)
            self.diagnoses.append(own.tolist())
            for _ in range(1 + self.rng.poisson(1.5)):
                self.visit(len(self.diagnoses) - 1)

    def visit(self, patient: int) -> None:
        ward = "ABCD"[patient % 4 if self.rng.random() < 0.7 else self.rng.integers(4)]
        self.visits.append((patient, ward, int(self.rng.choice(self.diagnoses[patient]))))

    def go_on(self) -> None:
        """Some patients get another diagnosis, and some come again."""
        for patient, own in enumerate(self.diagnoses):
            if self.rng.random() < 0.05 and len(own) < self.most:
                own.append(int(self.rng.choice(len(self.chance), p=self.chance)))
            if self.rng.random() < 0.2:
                self.visit(patient)

    def table(self, is_here: Callable[[int], bool]) -> pl.DataFrame:
        """The visits of patients who are here."""
        here = [(number, *one) for number, one in enumerate(self.visits) if is_here(one[0])]
        return pl.DataFrame(
            {
                "patient": [f"P{patient}" for _, patient, _, _ in here],
                "visit": [f"V{number}" for number, *_ in here],
                "age": [patient * 7 % 100 for _, patient, _, _ in here],
                "ward": [ward for *_, ward, _ in here],
                "diagnosis": [VALUES[value] for *_, value in here],
            }
        )
