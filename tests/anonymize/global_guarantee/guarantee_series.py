"""Random series of people whose values come and go, and what becomes of them under the global guarantee."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import strategies as st

from republish.anonymize.contract import Contract
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.global_guarantee import GLOBAL_GUARANTEE
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State
from tests.clinic import CLINIC
from tests.series import KEY, draws

AGE = {"name": "age", "kind": "number", "domain": [0, 99]}
TOWN = {"name": "town", "kind": "category", "order": ["Oslo", "Bari", "Åre", "Zürich"]}
WEIGHT = {"name": "weight", "kind": "number", "domain": [0.5, 180.25]}
STRATEGIES = (
    {"strategy": "constant_ratio", "releases": 4},
    {"strategy": "geometric", "a": 0.6},
    {"strategy": "minimum"},
)


def make_contract(quasi_identifiers=(AGE, TOWN), values=None, **principle) -> Contract:
    """A contract over some quasi-identifiers, with l = 2 unless another is given."""
    return Contract.model_validate(
        {
            **CLINIC,
            "quasi_identifiers": list(quasi_identifiers),
            "sensitive": {"name": "disease", "semantics": "transient"}
            | ({"values": values} if values else {}),
            "principle": {"name": "global_guarantee", "l": 2} | principle,
        },
        context={"principles": {"global_guarantee": GLOBAL_GUARANTEE.parameters}},
    )


def people_of(persons, values, **quasi_identifiers) -> pl.DataFrame:
    """T(n) as a principle receives it; `qi_0`, … as given."""
    return pl.DataFrame(
        {"pseudonym": pseudonyms(pl.Series(list(map(str, persons)), dtype=pl.String), KEY)}
        | {name: pl.Series(list(column), dtype=_dtype(column)) for name, column in quasi_identifiers.items()}
        | {"value": pl.Series(list(values), dtype=_dtype(values))}
    )


def _dtype(column) -> pl.DataType:
    """That of a column that may be empty: text, unless it has numbers or is a range."""
    first = next(iter(column), 0 if isinstance(column, range) else "")
    return {int: pl.Int64(), float: pl.Float64(), str: pl.String()}[type(first)]


@dataclasses.dataclass(frozen=True)
class Step:
    """What became of one snapshot."""

    number: int
    contract: Contract
    people: pl.DataFrame
    before: State
    candidate: Candidate | None
    refusal: NotEligible | None = None


def publish(contracts, snapshots, key: bytes = KEY) -> list[Step]:
    """Every release in turn, each on the state the last one left; refused ones leave it as it was."""
    state, number, steps = State.empty(), 1, []
    for contract, people in zip(contracts, snapshots, strict=True):
        try:
            candidate = GLOBAL_GUARANTEE.release(people, contract, state, number, draws(number, key))
        except NotEligible as refusal:
            steps.append(Step(number, contract, people, state, None, refusal))
            continue
        steps.append(Step(number, contract, people, state, candidate))
        state, number = candidate.state, number + 1
    return steps


@dataclasses.dataclass
class Crowd:
    """People who come and go, and whose values change."""

    rng: np.random.Generator
    values: list
    weights: np.ndarray
    size: int
    turnover: float
    changing: float
    spread: float

    def snapshots(self, releases: int) -> list[pl.DataFrame]:
        everybody = max(2, int(self.size * 2))
        value = self.rng.choice(len(self.values), everybody, p=self.weights)
        age = (self.rng.random(everybody) * 100 * self.spread).astype(int)
        town = self.rng.integers(0, 4, everybody)
        present = self.rng.permutation(everybody)[: self.size]
        series = []
        for _ in range(releases):
            series.append(
                people_of(
                    present,
                    [self.values[v] for v in value[present]],
                    qi_0=age[present].tolist() or range(0),
                    qi_1=[TOWN["order"][t] for t in town[present]],
                )
            )
            leaving = self.rng.random(len(present)) < self.turnover
            outside = np.setdiff1d(np.arange(everybody), present)
            entering = self.rng.permutation(outside)[: leaving.sum()]
            present = np.concatenate([present[~leaving], entering])
            changes = self.rng.random(everybody) < self.changing
            value = np.where(changes, self.rng.choice(len(self.values), everybody, p=self.weights), value)
        return series


def crowd(
    seed: int, size: int, number_of_values: int, skew=0.0, turnover=0.1, changing=0.3, spread=1.0
) -> Crowd:
    """A crowd with so many values, evenly spread or skewed."""
    weights = np.arange(1, number_of_values + 1) ** -float(skew)
    return Crowd(
        np.random.default_rng(seed),
        [f"d{v:02}" for v in range(number_of_values)],
        weights / weights.sum(),
        size,
        turnover,
        changing,
        spread,
    )


@st.composite
def series(draw, most_people: int = 200, most_releases: int = 8):
    """Contracts and snapshots of a random series; parameters may change from some release on."""
    parameters = st.fixed_dictionaries(
        {
            "l": st.integers(2, 3),
            "on_ineligible": st.sampled_from(["refuse", "wait"]),
            "strategy": st.sampled_from(STRATEGIES),
        }
    )
    first, later = draw(parameters), draw(st.none() | parameters)
    releases = draw(st.integers(1, most_releases))
    changes_at = draw(st.integers(1, most_releases))
    contracts = []
    for number in range(releases):
        chosen = dict(later if later and number >= changes_at else first)
        strategy = chosen.pop("strategy")
        contracts.append(make_contract(**chosen, **strategy))
    people = crowd(
        draw(st.integers(0, 2**32)),
        draw(st.integers(0, most_people)),
        draw(st.integers(1, 20)),
        skew=draw(st.sampled_from([0, 0, 0.5, 2])),
        turnover=draw(st.sampled_from([0, 0.1, 0.5])),
        changing=draw(st.sampled_from([0, 0.1, 0.5])),
        spread=draw(st.sampled_from([1.0, 0.1, 0.0])),
    )
    return contracts, people.snapshots(releases)


def escapes(steps: list[Step]) -> list[dict[tuple, Fraction]]:
    """After each release, the exact probability that each person never had each value, from what is
    published.

    Written in plain Python from the published rows and who is in which group; nothing is shared with the
    principle.
    """
    never, after = defaultdict(lambda: Fraction(1)), []
    for step in steps:
        if step.candidate:
            groups = defaultdict(list)
            for group_id, *_, value in step.candidate.published["microdata"].rows():
                groups[group_id].append(value)
            for person, group_id in step.candidate.linkage.rows():
                for value in set(groups[group_id]):
                    share = Fraction(groups[group_id].count(value), len(groups[group_id]))
                    never[person, value] *= 1 - share
        after.append(dict(never))
    return after


def values_by_group(step: Step) -> pl.DataFrame:
    """`group_id`, `value`, `tuples` of a release, as an adversary reads it."""
    tables = GENERALIZATION.internal(step.candidate.published, step.contract)
    return GENERALIZATION.read(tables, step.contract).values


def ratio(strategy, spent, whole):
    """The smallest ratio r, group size by tuples with the value, that the person's next group must have."""
    with np.errstate(divide="ignore"):
        return 1 / -np.expm1(-strategy.allowance(spent, whole))
