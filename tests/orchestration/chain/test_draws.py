"""A candidate that a test of statistics convicts by chance is drawn anew; nothing else gets a second try."""

from dataclasses import replace

import pytest

from anonymize.attack import finding as fi
from anonymize.attack.finding import finding
from anonymize.errors import AuditFailed
from anonymize.m_invariance.release import GROUPING
from orchestration.chain import audit, candidate
from orchestration.chain.candidate import DRAWS, compute_candidate
from orchestration.chain.delta import compare_snapshots
from orchestration.chain.snapshot import take_snapshot
from orchestration.series.committed import read_state
from tests.hospital import RELEASES, make, published
from tests.orchestration.chain.test_equivalence_chain import declare

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def convicted(monkeypatch):
    """The first so many candidates break a promise; returns the states that they were made on."""

    def first(times, promise=fi.COUNTERFEITS):
        states, attack = [], audit.attack

        def attacked(*arguments, **options):
            found = attack(*arguments, **options)
            if len(states) > times:
                return found
            others = found.findings.filter(found.findings["promise"] != promise)
            return replace(found, findings=others.vstack(finding(promise, 300, 7, 1e-9, 1e-4)))

        def audited(made, people, before, *more):
            states.append(before)
            return audit.audit(made, people, before, *more)

        monkeypatch.setattr(audit, "attack", attacked)
        monkeypatch.setattr(candidate, "audit", audited)
        return states

    return first


def prepared(series, release):
    take_snapshot(series, release)
    compare_snapshots(series, release)
    return series


def test_a_candidate_that_is_convicted_by_chance_is_drawn_anew(hospital, home, convicted, tmp_path):
    usual = make(hospital.series(home), THIRD)
    states = convicted(2)
    series = make(hospital.series(tmp_path / "new home"), FIRST)
    assert len(states) == 3
    name = f"hospital/v1/{FIRST}/microdata.parquet"
    assert published(tmp_path / "new home")[name] != published(home)[name]
    assert usual.is_published(THIRD)
    assert all(verdict.passed for verdict in series.committed(FIRST).verdicts)


def test_the_draws_are_repeatable(hospital, convicted, tmp_path):
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        convicted(1)
        make(hospital.series(home), FIRST)
    assert published(homes[0]) == published(homes[1])


def test_a_candidate_that_is_convicted_each_time_is_refused(hospital, home, convicted):
    series = prepared(hospital.series(home), THIRD)
    states = convicted(99)
    with pytest.raises(AuditFailed, match="counterfeits hidden is broken for 7 of 300"):
        compute_candidate(series, THIRD)
    assert len(states) == DRAWS
    assert series.committed(THIRD) is None


@pytest.mark.parametrize("promise", [fi.CANDIDATES, fi.COVERAGE, fi.ROW_ORDER, fi.IDENTIFIERS])
def test_any_other_promise_is_broken_at_the_first_draw(hospital, home, convicted, promise):
    series = prepared(hospital.series(home), THIRD)
    states = convicted(99, promise)
    with pytest.raises(AuditFailed, match=f"{promise} is broken for 7"):
        compute_candidate(series, THIRD)
    assert len(states) == 1


def test_from_the_middle_on_old_groups_are_renewed(hospital, home, convicted):
    """Buckets that nobody entered or left would be grouped as before, however often plans are drawn."""
    series = prepared(hospital.series(home), THIRD)
    states = convicted(DRAWS // 2)
    compute_candidate(series, THIRD)
    assert [GROUPING in state.tables for state in states] == [True] * (DRAWS // 2) + [False]
    assert GROUPING in read_state(series.private(THIRD), series.committed(THIRD)).tables


def test_from_the_middle_on_old_counterfeits_are_renewed(hospital, convicted, tmp_path):
    """Old counterfeits may have come to look unlike the people around them: other draws leave them there."""
    series = make(declare(hospital, e=3).series(tmp_path / "new home"), FIRST)
    states = convicted(DRAWS // 2)
    prepared(series, SECOND)
    compute_candidate(series, SECOND)
    kept = [state.tables["attributes"].height for state in states]
    assert kept == [4] * (DRAWS // 2) + [0]
