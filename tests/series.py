"""Random series of snapshots, small and messy, and what becomes of them: for any test of releases.

`tables()` is a hypothesis strategy for a `Table`: the contract and the snapshot of each of one to seven
releases. People enter, leave and come back; they age, so that quasi-identifiers change; their sensitive
value changes to any other or back to one they had; values are evenly spread or skewed. Quasi-identifiers
are of every kind, with domains of one value and of thousands, with and without minimum widths. Domains of
values are text or whole numbers, declared or not, sometimes too small for m. m, the policies, and minimum
widths may be another from some release on. Hypothesis draws the parameters and numpy the people, so
that failures shrink to few people, few releases and few things happening at once.

`publish(table)` makes the releases one after another, each on the state the last one left, as a publisher
does; a release that is refused leaves the state as it was.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable

import numpy as np
import polars as pl
from hypothesis import strategies as st

from republish.anonymize.contract import Contract
from republish.anonymize.errors import NotEligible, RepublishError, ValueChangeRefused
from republish.anonymize.m_invariance.release import release
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from republish.orchestration.snapshots.sources import enter
from tests.clinic import CLINIC

KEY = b"the key of the tests"

QUASI_IDENTIFIERS = {
    "age": {"kind": "number", "domain": [0, 120]},
    "zipcode": {"kind": "number", "domain": [10_000, 99_999]},
    "weight": {"kind": "number", "domain": [0.5, 180.25]},
    "admitted": {"kind": "date", "domain": ["1999-12-30", "2024-02-29"]},
    "sex": {"kind": "category", "order": ["M", "F"]},
    "town": {"kind": "category", "order": ["Ærø", "Zürich", "東京", "Åre", "Oslo", "Bari", "a town"]},
    "born_in": {
        "kind": "category",
        "hierarchy": [["Peru", "America", "World"], ["Chad", "Africa", "World"], ["Mali", "Africa", "World"]],
    },
    "planet": {"kind": "category", "order": ["Earth"]},
    "floor": {"kind": "number", "domain": [-3, -3]},
}
WIDTHS = {
    "age": (2, 7, 50, 121),
    "zipcode": (2_000, 50_000, 90_000),
    "weight": (0.1, 33.3, 100, 179.75),
    "admitted": (30, 366, 8_000),
    "sex": (2,),
    "town": (2, 3, 5, 7),
    "born_in": (2, 3),
    "planet": (1,),
    "floor": (1,),
}
LABELS = (
    "flu",
    "gastritis",
    "Ménière",
    "grippe",
    "癌",
    "HIV",
    "gout",
    "mumps",
    "Angina",
    "ague ",
    "x",
    "y",
    "z",
    "w",
)


@dataclasses.dataclass(frozen=True)
class Table:
    """A table that changes: what is promised and who is in it, at each release."""

    contracts: list[Contract]
    """The contract in force at each release; only the principle and minimum widths change."""
    snapshots: list[pl.DataFrame]
    """T(1), T(2), …: identifier `person`, the quasi-identifiers under the publisher's names, `value`."""


@dataclasses.dataclass(frozen=True)
class Release:
    """What became of one snapshot."""

    number: int
    """n, counted from 1 over the releases that were published."""
    contract: Contract
    people: pl.DataFrame
    """T(n) under our own column names, with `pseudonym`."""
    before: State
    """What was remembered before it."""
    candidate: Candidate | None
    """None if it was refused."""
    refusal: RepublishError | None


def make_contract(
    quasi_identifiers=("age", "zipcode"), widths: dict | None = None, values=None, m: int = 2, **principle
) -> Contract:
    """A contract over some of `QUASI_IDENTIFIERS` (by name, or declared in full), with minimum widths."""
    attributes = [
        qi if isinstance(qi, dict) else {"name": qi, **QUASI_IDENTIFIERS[qi]} for qi in quasi_identifiers
    ]
    return parse_past_the_check(
        {
            **CLINIC,
            "quasi_identifiers": [
                qi | ({"min_width": (widths or {})[qi["name"]]} if qi["name"] in (widths or {}) else {})
                for qi in attributes
            ],
            "sensitive": {"name": "value"} | ({"values": list(values)} if values else {}),
            "principle": {"name": "m_invariance", "m": m} | principle,
        }
    )


def parse_past_the_check(declared: dict) -> Contract:
    """A contract that may have `counterfeit` with m = 2, which `parse_contract` refuses.

    The check stands before the algorithm, whose properties hold with m = 2 as well.
    """
    policy = declared["principle"].get("on_ineligible", "refuse")
    if policy != "counterfeit":
        return parse_contract(declared)
    checked = declared | {"principle": declared["principle"] | {"on_ineligible": "refuse"}}
    contract = parse_contract(checked)
    principle = contract.principle.model_copy(update={"on_ineligible": policy})
    return contract.model_copy(update={"principle": principle})


def draws(number: int, key: bytes = KEY) -> Callable[[str], np.random.Generator]:
    """The keyed randomness of the n-th release."""
    return lambda purpose: generator(key, "clinic", "v1", str(number), purpose)


def entered(snapshot: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """A snapshot under our own column names, with pseudonyms: as orchestration keeps it."""
    people = enter(snapshot, contract)
    return people.with_columns(pseudonyms(people["identifier"], KEY).alias("pseudonym"))


def make(principle_release, snapshot: pl.DataFrame, contract: Contract, state: State, number: int, draw):
    """A candidate of a snapshot under the publisher's column names, its linkage under the identifier's."""
    people = entered(snapshot, contract)
    candidate = principle_release(people.drop("identifier"), contract, state, number, draw)
    return named(candidate, people, contract)


def named(candidate: Candidate, people: pl.DataFrame, contract: Contract) -> Candidate:
    """A candidate whose linkage begins with the identifier, under its own name."""
    identifiers = people.select("pseudonym", "identifier")
    linkage = candidate.linkage.join(identifiers, on="pseudonym", maintain_order="left")
    columns = ["identifier", *(column for column in candidate.linkage.columns if column != "pseudonym")]
    return dataclasses.replace(
        candidate, linkage=linkage.select(columns).rename({"identifier": contract.identifier})
    )


def under_pseudonyms(candidate: Candidate, contract: Contract) -> Candidate:
    """A candidate whose linkage was `named` as its principle made it: with pseudonyms for identifiers."""
    people = pseudonyms(candidate.linkage[contract.identifier], KEY).alias("pseudonym")
    linkage = candidate.linkage.drop(contract.identifier).insert_column(0, people)
    return dataclasses.replace(candidate, linkage=linkage)


def publish(table: Table, key: bytes = KEY, before: State | None = None) -> list[Release]:
    """Every release of a table, refused ones included."""
    state = before or State.empty()
    number, releases = 1, []
    for contract, snapshot in zip(table.contracts, table.snapshots, strict=True):
        people = entered(snapshot, contract)
        candidate = refusal = None
        try:
            candidate = make(release, snapshot, contract, state, number, draws(number, key))
        except (NotEligible, ValueChangeRefused) as error:
            refusal = error
        releases.append(Release(number, contract, people, state, candidate, refusal))
        if candidate:
            state, number = candidate.state, number + 1
    return releases


def released(contract, snapshots, between=lambda state: state, *, key: bytes = KEY, skips: bool = False):
    """`(contract, people, candidate)` of each snapshot, released by the contract's own principle.

    Parameters
    ----------
    between
        What the state that a release leaves goes through before the next one.
    key
        What the releases are drawn with.
    skips
        Whether a snapshot that is refused leaves the state as it was. By default the refusal is raised.
    """
    state, number = State.empty(), 1
    for snapshot in snapshots:
        people = entered(snapshot, contract)
        own, release_of_principle = people.drop("identifier"), principle_of(contract).release
        try:
            candidate = release_of_principle(own, contract, state, number, draws(number, key))
        except NotEligible:
            if skips:
                continue
            raise
        yield contract, people, candidate
        state, number = between(candidate.state), number + 1


@st.composite
def tables(
    draw,
    most_people: int = 40,
    most_releases: int = 7,
    policies=("refuse", "wait", "counterfeit"),
    value_changes: bool = True,
) -> Table:
    """A table over one to seven releases; see the module's docstring."""
    names = draw(st.lists(st.sampled_from(sorted(QUASI_IDENTIFIERS)), min_size=1, max_size=4, unique=True))
    number_of_values = draw(st.integers(2, len(LABELS)))
    domain = draw(st.sampled_from([LABELS, tuple(range(-5, 9))]))[:number_of_values]
    declared = domain if draw(st.booleans()) else None
    parameters = st.fixed_dictionaries(
        {
            "m": st.integers(2, min(6, number_of_values) if declared else 6),
            "on_ineligible": st.sampled_from(policies),
            "widths": st.fixed_dictionaries(
                {}, optional={name: st.sampled_from(WIDTHS[name]) for name in names}
            ),
        }
    )
    first = draw(parameters)
    later = draw(st.none() | parameters)
    changes_at = draw(st.integers(1, most_releases))
    number_of_releases = draw(st.integers(1, most_releases))
    crowd = _Crowd(
        rng=np.random.default_rng(draw(st.integers(0, 2**32))),
        names=names,
        domain=domain,
        skew=draw(st.sampled_from([0, 0.5, 1, 3])),
        spread=draw(st.sampled_from([1.0, 0.3, 0.0])),
        changing=draw(st.sampled_from([0, 0.05, 0.5])) if value_changes else 0,
        ageing=draw(st.sampled_from([0, 0.3, 1])),
        returning=draw(st.sampled_from([0, 0.2, 0.8])),
    )
    contracts, snapshots = [], []
    for number in range(number_of_releases):
        chosen = later if later and number >= changes_at else first
        contracts.append(make_contract(names, values=declared, **chosen))
        leaving = draw(st.sampled_from([0, 0.1, 0.5, 1])) if number else 0
        crowd.live_on(leaving, entering=draw(st.integers(0, most_people // (2 if number else 1))))
        snapshots.append(crowd.snapshot())
    return Table(contracts, snapshots)


class _Crowd:
    """People who enter, leave, come back, age and change value."""

    def __init__(self, rng, names, domain, skew, spread, changing, ageing, returning):
        self.rng, self.names, self.domain = rng, names, domain
        self.changing, self.ageing, self.returning = changing, ageing, returning
        self.spread = spread
        weights = np.arange(1, len(domain) + 1, dtype=float) ** -skew
        self.weights = weights / weights.sum()
        self.present: dict[str, dict] = {}
        self.gone: dict[str, dict] = {}
        self.known = 0

    def live_on(self, leaving: float, entering: int) -> None:
        for person in [person for person in self.present if self.rng.random() < leaving]:
            self.gone[person] = self.present.pop(person)
        for person in [person for person in self.gone if self.rng.random() < self.returning]:
            self.present[person] = self.gone.pop(person)
        for row in self.present.values():
            self._change(row)
        for _ in range(entering):
            self.known += 1
            row = {name: self._position() for name in self.names}
            value = int(self.rng.choice(len(self.domain), p=self.weights))
            self.present[f"person {self.known}"] = row | {"value": value, "had": [value]}

    def _position(self) -> float:
        """Where in a domain somebody is, from 0 to 1."""
        return float(np.clip(0.5 + self.spread * (self.rng.random() - 0.5), 0, 1))

    def _change(self, row: dict) -> None:
        if self.rng.random() < self.ageing:
            name = self.names[0]
            row[name] = min(1.0, row[name] + 0.01)
        if self.rng.random() < self.changing:
            back = self.rng.random() < 0.3
            row["value"] = int(self.rng.choice(row["had"] if back else len(self.domain)))
            row["had"] = [*row["had"], row["value"]]

    def snapshot(self) -> pl.DataFrame:
        persons = list(self.present)
        self.rng.shuffle(persons)
        rows = [self.present[person] for person in persons]
        columns = {name: [_value(name, row[name]) for row in rows] for name in self.names}
        schema = {"person": pl.String} | {name: ATTRIBUTES[name].dtype for name in self.names}
        schema["value"] = pl.String if isinstance(self.domain[0], str) else pl.Int64
        values = [self.domain[row["value"]] for row in rows]
        return pl.DataFrame({"person": persons, **columns, "value": values}, schema=schema)


ATTRIBUTES = {name: make_contract([name]).quasi_identifiers[0] for name in QUASI_IDENTIFIERS}


def _value(name: str, position: float):
    """The value of a quasi-identifier that lies at a position, from 0 to 1, in its domain."""
    attribute = ATTRIBUTES[name]
    if attribute.kind == "category":
        return attribute.labels[min(int(position * len(attribute.labels)), len(attribute.labels) - 1)]
    low, high = attribute.domain
    if attribute.kind == "date":
        return low + dt.timedelta(days=round(position * (high - low).days))
    length = position * (high - low)
    return low + round(length) if attribute.discrete else min(low + length, high)
