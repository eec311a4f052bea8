"""e-equivalent releases of any table: all kinds of columns and values, changing parameters, refusals."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.e_equivalence.parameters import EEquivalence
from republish.anonymize.e_equivalence.release import release
from republish.anonymize.errors import NotEligible
from republish.anonymize.principle.state import State
from tests.anonymize.e_equivalence.equivalence_series import Made, attack_each
from tests.series import Table, draws, entered, tables


def equivalent(contract, e):
    """The same contract under e-equivalence, which keeps no minimum widths."""
    shared = contract.principle.model_dump(exclude={"effort", "format"})
    principle = EEquivalence(**shared | {"name": "e_equivalence", "e": e})
    exact = tuple(qi.model_copy(update={"min_width": 0}) for qi in contract.quasi_identifiers)
    return contract.model_copy(update={"principle": principle, "quasi_identifiers": exact})


def releases(table: Table, es):
    """Each release that is not refused, with what it was made from."""
    state, number = State.empty(), 1
    for contract, snapshot, e in zip(table.contracts, table.snapshots, es, strict=False):
        declared = equivalent(contract, e)
        people = entered(snapshot, declared)
        try:
            candidate = release(people.drop("identifier"), declared, state, number, draws(number))
        except NotEligible:
            continue
        yield Made(people, declared, state, candidate)
        state, number = candidate.state, number + 1


@pytest.mark.slow("makes and audits many releases")
@given(tables(), st.lists(st.integers(2, 7), min_size=7, max_size=7))
@settings(max_examples=40)
def test_every_promise_holds_in_every_release(table, es):
    made = list(releases(table, es))
    for one, attacked in zip(made, attack_each(made), strict=True):
        found = attacked.tables
        contract = one.contract
        balance, counted = found["balance"], found["counterfeits"].row(0, named=True)
        assert balance.filter(pl.col("fewest") != pl.col("most")).is_empty()
        assert balance.filter(pl.col("tuples") != pl.col("stated")).is_empty()
        assert balance.filter(
            (pl.col("newcomers") > 0) & (pl.col("values") < contract.principle.m)
        ).is_empty()
        assert found["signature_invariance"]["overlapping"].sum() == 0
        assert found["coverage"]["uncovered"].sum() == 0
        assert counted["wrong_counts"] == counted["empty_groups"] == counted["strangers"] == 0
        assert counted["held_back"] == one.candidate.figures.held_back
        assert found["cuts"].filter(pl.col("min_cut") <= 2 * (contract.principle.e - 1)).is_empty()
        assert found["cuts"].height == one.candidate.figures.cuts
        assert attacked.holds
