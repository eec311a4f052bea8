"""What a report says was not looked at, or not decided."""

from types import SimpleNamespace

import polars as pl

from republish.anonymize.attack.figures import RiskFigures
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.promise.attacked import ReleaseAttack
from republish.orchestration.audit.gaps import _assignment_gaps


def gaps(**counted):
    figures = RiskFigures(tuples=10, largest=0.4, certain=0, **counted)
    whole = ReleaseAttack(pl.DataFrame(), (figures,), Knowledge())
    series = SimpleNamespace(why_no_assignments=None, name="v1", whole=whole)
    return _assignment_gaps(series)


def test_risks_above_what_is_promised_without_numbers_are_stated():
    (gap,) = gaps(decided=10, repeated=9, exceeding=2)
    assert gap.people == (2, 10)
    assert "counted by rows without numbers" in gap.what


def test_groups_bound_the_risks_of_those_alone_who_are_beside_no_value_that_repeats():
    (gap,) = gaps(decided=8, repeated=9)
    assert gap.people == (2, 10)
    assert gap.why.endswith(
        "(signature invariance), but where a group has several rows of a value that may be known."
    )
    (gap,) = gaps(decided=8)
    assert gap.why.endswith("(signature invariance).")
