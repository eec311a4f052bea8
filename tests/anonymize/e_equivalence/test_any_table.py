"""e-equivalent releases of any table: all kinds of columns and values, changing parameters, refusals."""

import os

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymize.anatomy_evidence import anatomy_evidence
from anonymize.contract import EEquivalence
from anonymize.e_equivalence.release import release
from anonymize.errors import NotEligible
from anonymize.state import State
from tests.series import Table, draws, tables, with_pseudonyms

EXAMPLES = int(os.environ.get("REPUBLISH_EXAMPLES", "80"))


def equivalent(contract, e):
    """The same contract under e-equivalence, which keeps no minimum widths."""
    principle = EEquivalence(**contract.principle.model_dump() | {"name": "e_equivalence", "e": e})
    exact = tuple(qi.model_copy(update={"min_width": 0}) for qi in contract.quasi_identifiers)
    return contract.model_copy(update={"principle": principle, "quasi_identifiers": exact})


def releases(table: Table, es):
    """Each release that is not refused: its number, contract, people, the state before it, itself."""
    state, number = State.empty(table.snapshots[0].schema["value"]), 1
    for contract, snapshot, e in zip(table.contracts, table.snapshots, es, strict=False):
        promise, people = equivalent(contract, e), with_pseudonyms(snapshot)
        try:
            candidate = release(people, promise, state, number, draws(number))
        except NotEligible:
            continue
        yield number, promise, people, state, candidate
        state, number = candidate.state, number + 1


@given(tables(), st.lists(st.integers(2, 7), min_size=7, max_size=7))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_promise_holds_in_every_release(table, es):
    for _, contract, people, state, candidate in releases(table, es):
        found = anatomy_evidence(candidate.published, candidate.linkage, people, state, contract)
        balance, counted = found["balance"], found["counterfeits"].row(0, named=True)
        assert balance.filter(pl.col("fewest") != pl.col("most")).is_empty()
        assert balance.filter(pl.col("tuples") != pl.col("stated")).is_empty()
        assert balance.filter(
            (pl.col("newcomers") > 0) & (pl.col("values") < contract.principle.m)
        ).is_empty()
        assert found["signature_invariance"]["overlapping"].sum() == 0
        assert found["coverage"]["uncovered"].sum() == 0
        assert counted["wrong_counts"] == counted["empty_groups"] == counted["strangers"] == 0
        assert counted["held_back"] == candidate.figures["held_back"]
        assert found["cuts"].filter(pl.col("min_cut") <= 2 * (contract.principle.e - 1)).is_empty()
