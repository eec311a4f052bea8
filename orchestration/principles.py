"""The principles a contract can name, and what each brings. A new one is one more entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from anonymize.anatomy_evidence import anatomy_evidence
from anonymize.candidate import Candidate
from anonymize.contract import Contract
from anonymize.e_equivalence import release as e_equivalence
from anonymize.evidence import generalization_evidence
from anonymize.m_invariance import release as m_invariance


@dataclass(frozen=True)
class Principle:
    """How the data product makes and judges releases of one principle."""

    release: Callable[..., Candidate]
    """T(n) and the state before it -> a candidate."""
    version: str
    """Of the algorithm: raised when the same inputs would give other bytes."""
    evidence: Callable[..., dict[str, pl.DataFrame]]
    """A candidate and the truth -> one table of evidence per promise."""
    parameters: Callable[[Contract, Mapping[str, int]], dict]
    """What the promises' expectations are parametrised by, from the contract and the figures."""
    promises: tuple[str, ...]
    """The names of the evidence, of the suites that judge it and of the checks that show it."""
    tables: tuple[str, ...]
    """The published tables."""


PRINCIPLES = {
    "m_invariance": Principle(
        release=m_invariance.release,
        version=m_invariance.ALGORITHM_VERSION,
        evidence=generalization_evidence,
        parameters=lambda contract, figures: {
            "m": contract.principle.m,
            "held_back": figures["held_back"],
        },
        promises=("m_uniqueness", "signature_invariance", "coverage", "minimum_widths", "counterfeits"),
        tables=("microdata", "counterfeits"),
    ),
    "e_equivalence": Principle(
        release=e_equivalence.release,
        version=e_equivalence.ALGORITHM_VERSION,
        evidence=anatomy_evidence,
        parameters=lambda contract, figures: {
            "m": contract.principle.m,
            "smallest_safe_cut": 2 * (contract.principle.e - 1) + 1,
            "held_back": figures["held_back"],
        },
        promises=("balance", "signature_invariance", "coverage", "counterfeits", "cuts"),
        tables=("quasi_identifiers", "sensitive", "counterfeits"),
    ),
}


def principle_of(contract: Contract) -> Principle:
    """The principle a contract names."""
    return PRINCIPLES[contract.principle.name]


def code_version(contract: Contract) -> str:
    """Algorithm version and a digest of the privacy parameters: when it changes, releases are stale."""
    return f"{principle_of(contract).version}-{contract.privacy_digest()[:12]}"
