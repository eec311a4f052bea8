"""What adversaries learn who know more than the papers say, from one release and from eight.

Nothing of this is promised. Each audit states of its own series what is guessed right. Of each table a
twentieth is replaced before each release. *Right*: guessed right by who learns from the groups which values
go with which quasi-identifiers, and from every release who has another value than whom, and knows everybody's
group; of the *surest* twentieth; and, *by quasi-identifiers*, by who does not know groups. *Certain*: the
share of the others who have one value left, their own, when the values of 1 or 10 % of the people are known,
drawn at random. *Followed*: the groups that look like one group of the release before. The titles have what
is guessed without any release: by naming the most frequent value, and by a regression on the values of half
of the people. `regroup` is the share of groups that could stay and are made anew; NCP is the share of its
domain that an interval covers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.adversaries.following import Followed, follow
from benchmarks.adversaries.some_known import KnownPeople, strike_out
from benchmarks.census import census_contract, census_series
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.real_data import (
    adult_contract,
    adult_series,
    data_folder,
    free1_contract,
    free1_series,
    receipts_contract,
    receipts_series,
)
from benchmarks.series import Made, Series, contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.measures.guessing import Clues, Guesses, guess_values
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.contract import Contract
from republish.anonymize.formats.published import knowledge_table

QUICK = {"people": 300, "releases": 2, "regroup": (1.0, 0.1), "others": False}
SHOWN = (1, 2, 4)
"""Releases that are shown of m-invariance, beside the last one."""
TABLES = {
    "census, occupation": 4,
    "Adult, occupation": 4,
    "free1, education": 3,
    "receipts, chapter": 3,
}
"""Tables, and the m or l that they are released with."""
HEADINGS = (
    *("principle", "release", "NCP", "counterfeits", "right", "of the surest", "by quasi-identifiers"),
    *("certain, 1 % known", "certain, 10 % known", "followed"),
)


@dataclass
class _Attack:
    """What the releases so far taught."""

    contract: Contract
    linked: Guesses | None = None
    alone: Guesses | None = None
    struck: KnownPeople | None = None
    followed: Followed | None = None

    def learn(self, made: Made) -> None:
        """Attack one more release."""
        published, contract = made.read, self.contract
        known = knowledge_table(made.people.rename({IDENTIFIER: "person"}), contract)
        self.linked = guess_values(known, published, contract, made.linkage, _clues(self.linked))
        self.alone = guess_values(known, published, contract, None, _clues(self.alone))
        self.struck = strike_out(known, published, made.linkage, self.struck and self.struck.struck)
        self.followed = follow(published, self.followed)

    def row(self, made: Made) -> list[str]:
        """What it came to, under `HEADINGS` from NCP on."""
        assert self.followed
        figures, read = made.candidate.figures, made.read
        if not figures.people:
            return ["nobody is published", *[""] * (len(HEADINGS) - 3)]
        return [
            f"{normalized_certainty_penalty(read.boxes, read.sizes, self.contract):.3f}",
            *map(
                _percent,
                (
                    figures.counterfeits / figures.people,
                    self.linked and self.linked.learned,
                    self.linked and self.linked.surest_twentieth,
                    self.alone and self.alone.learned,
                    self.struck and self.struck.certain[0.01],
                    self.struck and self.struck.certain[0.1],
                    self.followed.groups,
                ),
            ),
        ]


def tables(
    people: int = 12_000,
    releases: int = 8,
    regroup: tuple[float, ...] = (1.0, 0.25, 0.1, 0.0),
    others: bool = True,
) -> Iterator[Table]:
    """A table for each people: m-invariance with shares of groups made anew, and `others`' principles."""
    for name, m in TABLES.items():
        rows, without = [], ""
        for said, principle in principles(m, regroup, others=others):
            series = _series(name, people, releases, is_transient=principle["name"] == "global_guarantee")
            if series is None:
                return
            declared, snapshots = series
            attack = _Attack(contract_of(declared, **principle))
            every = enumerate(released(snapshots, attack.contract), start=1)
            for number, made in every:
                attack.learn(made)
                if number == releases or number in (SHOWN if "regroup" in principle else SHOWN[:1]):
                    rows.append([said, number, *attack.row(made)])
            if not without and attack.linked:
                without = (
                    f"the most frequent value is right for {_percent(attack.linked.most_frequent)},"
                    f" statistics for {_percent(attack.linked.from_truth)}"
                )
        yield Table(f"{name}: 1/m is {1 / m:.1%}; {without}", HEADINGS, rows)


def principles(
    m: int, regroup: tuple[float, ...], *, others: bool
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """How each is called, and its parameters."""
    more = {"on_ineligible": "counterfeit", "people_per_group": 2}
    for share in regroup:
        yield f"m_invariance, regroup {share:g}", {"name": "m_invariance", "m": m, "regroup": share} | more
    if others:
        yield "e_equivalence, e = 3", {"name": "e_equivalence", "m": m, "e": 3} | more
        yield "streamliner, then m_invariance", {"name": "streamliner", "l": m, "then": "m_invariance"} | more
        slowly = {"strategy": "geometric", "a": 0.5, "on_ineligible": "wait"}
        yield "global_guarantee, geometric", {"name": "global_guarantee", "l": m} | slowly


def _series(
    name: str, people: int, releases: int, *, is_transient: bool
) -> tuple[dict[str, Any], Series] | None:
    """A contract and snapshots, of which a twentieth is replaced each time; None if the data isn't here."""
    found = _people(name, people, releases)
    if found is None or not is_transient:
        return found
    declared, snapshots = found
    return declared | {"sensitive": declared["sensitive"] | {"semantics": "transient"}}, snapshots


def _people(name: str, people: int, releases: int) -> tuple[dict[str, Any], Series] | None:
    if name.startswith("census"):
        sensitive = name.removeprefix("census, ")
        snapshots = census_series(2 * people, people, people // 20, releases, sensitive)
        return census_contract(sensitive=sensitive), snapshots
    if (folder := data_folder()) is None:
        return None
    if name.startswith("Adult"):
        return adult_contract(folder), adult_series(folder, people, people // 20, releases)
    if name.startswith("free1"):
        few = min(people, 2_500)
        return free1_contract(), free1_series(folder, few, few // 20, releases)
    return receipts_contract(), list(receipts_series(folder))[:releases]


def _clues(before: Guesses | None) -> Clues | None:
    return None if before is None else before.clues


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


if __name__ == "__main__":
    main(tables)
