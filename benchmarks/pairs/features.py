"""What a contract writes for each feature, and which features a contract accepts together."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from typing import Any

from benchmarks.pairs.people import GROUPS_OF_D, PARTS, D, E, People
from republish import Contract
from republish.anonymize.errors import ContractError

Declared = dict[str, Any]

BASE: Declared = {
    "product": "pairs",
    "series": "v1",
    "identifier": "person",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 120]},
        {"name": "town", "kind": "category", "order": ["Aldorf", "Birkheim", "Cronau", "Delm"]},
    ],
    "sensitive": {"name": "d", "values": list(D)},
    "principle": {"name": "m_invariance", "m": 3, "on_ineligible": "wait"},
    "expect": {"carried": 0.0, "changed": 1.0, "counterfeits": 1.0},
}
"""A contract without any of the features. Values of people never change in it."""
SCHEDULED: Declared = {
    "source": {"path": "{release}.csv"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
}
"""What a home is told beside it."""
CORRECTED_FROM = "2024-03-01"
"""The third release, from which on what is `later` in a feature holds."""


@dataclass(frozen=True, eq=False)
class Feature:
    """A choice that a contract may make."""

    name: str
    """As the page calls it."""
    writes: Mapping[str, Any] = field(default_factory=dict)
    """Keys by path, `principle.m` say, and what the contract has there; None takes a key away."""
    people: Mapping[str, Any] = field(default_factory=dict)
    """How the people differ, as keywords of `People`."""
    later: Mapping[str, Any] = field(default_factory=dict)
    """What the contract has from the third release on."""
    needs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By principle, what it takes for the feature to be possible, unless another feature says otherwise."""
    takes_a_home: bool = False
    """Whether a release in memory can't have it."""


def _quasi_identifiers(**keys: Any) -> list[Declared]:
    return [{**one, **keys} for one in BASE["quasi_identifiers"]]


COLUMNS = [{"name": "d", "values": list(D)}, {"name": "e", "values": list(E)}]
HIERARCHY = [[value, group, "any"] for value, group in GROUPS_OF_D.items()]
FEATURES = (
    Feature(
        "several rows", {"rows": "several", "row": "visit"}, {"rows": 3},
        needs={
            "m_invariance": {"principle.values_per_person": 2},
            "global_guarantee": {"principle.rows_per_person": 2, "sensitive.semantics": "transient"},
        },
    ),
    Feature(
        "missing quasi-identifiers", {"quasi_identifiers": _quasi_identifiers(missing="publish")},
        {"missing": 0.2},
    ),
    Feature(
        "two sensitive columns", {"sensitive": COLUMNS}, {"columns": ("d", "e")},
        needs={"m_invariance": {
            "principle.people_per_group": 2, "principle.on_value_change": "refuse", "principle.m": 2,
        }},
    ),
    Feature("values that may be known", {"sensitive.not_sensitive": ["none"]}, {"common": "none"}),
    Feature(
        "a renamed value", {}, {"renamed": ("flu", "grippe")}, {"sensitive.renamed": {"flu": "grippe"}}
    ),
    Feature(
        "a level of a hierarchy",
        {"sensitive.hierarchy": HIERARCHY, "sensitive.level": 1, "sensitive.values": None},
        {"published": GROUPS_OF_D},
    ),
    Feature("values that change", {}, {"changing": 0.15}),
    Feature("transient values", {"sensitive.semantics": "transient"}, {"changing": 0.5}),
    Feature(
        "counterfeits", {"principle.on_ineligible": "counterfeit"},
        needs={
            name: {"principle.people_per_group": 2}
            for name in ("m_invariance", "e_equivalence", "streamliner")
        },
    ),
    Feature("an m that grows", later={"principle.m": 4}),
    Feature("people_per_group", {"principle.people_per_group": 2}),
    Feature("nothing made anew", {"principle.regroup": 0}),
    Feature("everything made anew", {"principle.regroup": 1}),
    Feature("Anatomy", {"principle.format": "anatomy"}),
    Feature(
        "an adversary who knows the algorithm", {"principle.adversary": "knows_algorithm"},
        needs={"m_invariance": {"principle.on_ineligible": "refuse"}},
    ),
    Feature("e-equivalence", {"principle.name": "e_equivalence", "principle.e": 2}),
    Feature(
        "a global guarantee",
        {
            "principle.name": "global_guarantee", "principle.m": None, "principle.l": 2,
            "principle.strategy": "constant_ratio", "principle.releases": 2,
        },
    ),
    Feature(
        "the streamliner",
        {
            "principle.name": "streamliner", "principle.m": None, "principle.l": 3,
            "principle.then": "m_invariance",
        },
    ),
    Feature("shards", {"shards": 2}, takes_a_home=True),
    Feature(
        "corrections", people={"corrected": 0.1}, later={"corrections": {CORRECTED_FROM: "corrections.csv"}},
        takes_a_home=True,
    ),
    Feature(
        "identifiers that changed", people={"renumbered": 0.3},
        later={"identifiers": {CORRECTED_FROM: "crosswalk.csv"}}, takes_a_home=True,
    ),
    Feature("people who are forgotten", {"retention": {"absent_for": "30 days"}}, takes_a_home=True),
    Feature(
        "people who are never published again",
        {"retention": {"absent_for": "30 days", "never_again": True}}, takes_a_home=True,
    ),
    Feature(
        "a series that supersedes another", later={"series": "v2", "supersedes": "v1"}, takes_a_home=True
    ),
    Feature("an identifier of two columns", {"identifier": list(PARTS)}, {"parts": PARTS}),
    Feature(
        "dates that follow no schedule",
        {"releases": {"dates": ["2024-01-01", "2024-02-01", CORRECTED_FROM, "2024-04-01", "2024-05-01"]}},
        takes_a_home=True,
    ),
    Feature(
        "a renamed label", {}, {"renamed_town": ("Aldorf", "Altdorf")},
        {"quasi_identifiers.1.renamed": {"Aldorf": "Altdorf"}},
    ),
)  # fmt: skip
"""Of each, one way to write it."""


@dataclass(frozen=True)
class Together:
    """Two features or more in one contract."""

    features: tuple[Feature, ...]

    @property
    def name(self) -> str:
        """All of them, in words."""
        return " and ".join(one.name for one in self.features)

    @property
    def takes_a_home(self) -> bool:
        """Whether a release in memory can't have all of them."""
        return any(one.takes_a_home for one in self.features)

    @property
    def alternatives(self) -> bool:
        """Whether two of them write another value of one key: no contract has both."""
        written = [{**one.writes, **one.later} for one in self.features]
        return any(
            first[key] != second[key]
            for first, second in combinations(written, 2)
            for key in first.keys() & second.keys()
        )

    def declared(self, *, later: bool = False) -> Declared:
        """What the contract says, at first or from the third release on."""
        declared, said = deepcopy(BASE), set[str]()
        for feature in self.features:
            said |= feature.writes.keys()
            for path, value in {**feature.writes, **(feature.later if later else {})}.items():
                _write(declared, path.split("."), deepcopy(value))
        for feature in self.features:
            for path, value in feature.needs.get(declared["principle"]["name"], {}).items():
                if path not in said:
                    _write(declared, path.split("."), value)
        return declared

    def people(self, seed: int, number: int) -> People:
        """The people of a series."""
        return People(
            seed, number, **{key: value for one in self.features for key, value in one.people.items()}
        )

    @cached_property
    def refusal(self) -> str:
        """Why a contract refuses them together; empty if it accepts them."""
        for later in (False, True):
            try:
                contract_of(self.declared(later=later))
            except ContractError as error:
                return "; ".join(f"{key}: {why}" for key, why in error.faults)
        return ""

    @property
    def ends_early(self) -> bool:
        """Whether values change although the contract forbids it: then the second release is refused."""
        changes = any("changing" in one.people for one in self.features)
        return changes and self.declared()["principle"].get("on_value_change") == "refuse"

    @property
    def is_kept(self) -> bool:
        """Whether a contract may have all of them."""
        return not self.alternatives and not self.refusal


def contract_of(declared: Declared) -> Contract:
    """A contract whose releases are due on the first of each month.

    Raises
    ------
    ContractError
        If it refuses the features.
    """
    return Contract.of({**SCHEDULED, **declared})


@cache
def pairs() -> tuple[Together, ...]:
    """All pairs of features, each once."""
    return tuple(map(Together, combinations(FEATURES, 2)))


@cache
def covering(most: int) -> tuple[Together, ...]:
    """Fewer contracts, with several features each, in which all pairs that are kept stand together.

    Each begins with the feature that has most pairs left, and takes the one that covers most further pairs.

    Parameters
    ----------
    most
        How many features a contract has at most.
    """
    left, found = {frozenset(pair.features) for pair in pairs() if pair.is_kept}, []
    while left:
        first = max(FEATURES, key=lambda one: sum(one in pair for pair in left))
        taken = Together((first,))
        while len(taken.features) < most and (more := _with_one_more(taken, left)):
            taken = more
        left -= {frozenset(pair) for pair in combinations(taken.features, 2)}
        found.append(taken)
    return tuple(found)


def _with_one_more(taken: Together, left: set[frozenset[Feature]]) -> Together | None:
    """The features, and of those that may stand beside them the one that is in most pairs left with them.

    What ends early is released no further, and so is tried as a pair alone.
    """
    others = [one for one in FEATURES if one not in taken.features]
    covers = {one: sum(frozenset((one, other)) in left for other in taken.features) for one in others}
    for one in sorted(covers, key=covers.__getitem__, reverse=True):
        if covers[one] and not taken.ends_early:
            more = Together(tuple(sorted((*taken.features, one), key=FEATURES.index)))
            if more.is_kept and (len(more.features) == 2 or not more.ends_early):
                return more
    return None


def _write(place: Any, path: list[str], value: Any) -> None:
    """Write a key by its path; of several sensitive columns, the first one has it if none is numbered."""
    key, *further = path
    if isinstance(place, list):
        if key.isdigit():
            _write(place[int(key)], further, value)
            return
        place = place[0]
    if further:
        _write(place[key], further, value)
    elif value is None:
        place.pop(key, None)
    else:
        place[key] = value
