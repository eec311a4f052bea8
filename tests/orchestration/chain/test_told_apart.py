"""What a test of statistics says of counterfeits is published beside the release; certainty refuses it."""

from dataclasses import replace

import pytest

from republish.anonymize.attack.finding import Count, finding
from republish.anonymize.errors import AuditFailed
from republish.orchestration.chain import audit
from tests import findings as fi
from tests.hospital import RELEASES, make, published

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def found(monkeypatch):
    """The attack finds this on a promise."""

    def on(promise, *counts):
        attack = audit.attack

        def attacked(*arguments, **options):
            made = attack(*arguments, **options)
            others = made.findings.filter(made.findings["promise"] != promise)
            return replace(made, findings=others.vstack(finding(promise, Count(300, *counts))))

        monkeypatch.setattr(audit, "attack", attacked)

    return on


@pytest.mark.slow("takes more than a second")
def test_what_chance_may_have_done_is_said_and_changes_nothing(hospital, home, found, tmp_path):
    usual = make(hospital.series(home), THIRD)
    found(fi.COUNTERFEITS, 0, 2e-6, 1e-9, 7)
    series = make(hospital.series(tmp_path / "new home"), *RELEASES)
    assert published(tmp_path / "new home") == published(home)
    (verdict,) = (one for one in series.committed(THIRD).verdicts if one.promise == "attack")
    assert verdict.passed
    assert "as clearly as chance does in 1 of 500,000 releases" in verdict.found
    (row,) = (row for row in verdict.table if row["promise"] == fi.COUNTERFEITS)
    assert (row["undecided"], row["found"]) == (7, 2e-6)
    (usual_verdict,) = (one for one in usual.committed(THIRD).verdicts if one.promise == "attack")
    assert "as clearly as chance" not in usual_verdict.found


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("promise", [fi.COUNTERFEITS, fi.COVERAGE])
def test_a_broken_promise_is_refused(series, found, promise):
    found(promise, 7, 1e-10, 1e-9)
    with pytest.raises(AuditFailed, match=f"{promise} is broken for 7 of 300"):
        make(series, THIRD)
    assert series.committed(THIRD) is None
