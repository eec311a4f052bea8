"""What the people of each release share out, over all releases of a series."""

from dataclasses import replace

import polars as pl
import pytest

from republish.anonymize.attack.assignments import SeriesInput, attack_assignments, choices_of
from republish.anonymize.contract import Sensitive
from republish.anonymize.formats import Published
from republish.anonymize.promise import Candidates, Promise

SENSITIVE = Sensitive(name="value")
AGES = {"t": 10, "u": 20, "v": 30, "w": 40, "x": 20, "y": 30, "z": 40}
VALUES = {"t": "a", "u": "b", "v": "c", "w": "b", "x": "c", "y": "b", "z": "d"}


def release(groups, linked):
    """A release of groups of people, named by a letter each; a group's interval holds its ages alone."""
    rows = [(g, person) for g, people in enumerate(groups, start=1) for person in people]
    hosts = pl.DataFrame(rows, schema=["group_id", "person"], orient="row").with_columns(
        qi_0=pl.col("person").replace_strict(AGES), value=pl.col("person").replace_strict(VALUES)
    )
    published = Published(
        boxes=hosts.group_by("group_id").agg(qi_0_low=pl.col("qi_0").min(), qi_0_high=pl.col("qi_0").max()),
        values=hosts.group_by("group_id", "value").agg(tuples=pl.len().cast(pl.Int64)),
        counterfeits=pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
    )
    return choices_of(
        hosts.select("person", "value", "qi_0"), published, SENSITIVE, hosts if linked else None
    )


def attacked(*releases, linked=True, **options):
    people = {person for groups in releases for group in groups for person in group}
    owed = pl.DataFrame(
        [(p, VALUES[p], 1) for p in people], schema=["person", "value", "promised"], orient="row"
    )
    seen = [release(groups, linked) for groups in releases]
    found = attack_assignments(SeriesInput(seen, owed), [2] * len(seen), **options)
    return dict(found.each()), found.figures


def test_values_that_others_must_share_out_leave_one_for_the_rest():
    counts, figures = attacked(["tuv"], ["twz", "ux", "vy"])
    assert counts["assignments"].broken == 1
    assert counts["assignments"].found == 1
    assert counts["risk"].found == 1
    assert figures.certain == 1
    assert counts["risk"].broken == 1


@pytest.mark.parametrize("linked", [True, False])
def test_an_m_invariant_series_leaves_everybody_all_values_of_their_signature(linked):
    counts, _ = attacked(["ux", "vy"], ["ux"], linked=linked)
    assert counts["assignments"].found == 2
    assert counts["risk"].found == 0.5
    assert not any(count.broken for count in counts.values())


def test_one_changed_signature_is_enough_for_signatures_not_to_be_taken_as_invariant():
    # By their ages people may be in several groups. With invariant signatures somebody's true value would be
    # impossible, and another one's certain.
    counts, figures = attacked(["xz", "uv", "wy"], ["uw", "xz", "vy"], linked=False)
    assert counts["risk"].found == 0.625
    assert figures.certain == 0


def test_risks_that_cannot_be_counted_are_undecided_unless_lemma_3_bounds_them(monkeypatch):
    monkeypatch.setattr("republish.anonymize.attack.exact_risk.LARGEST_COMPONENT", 2)
    series = [["tuv"], ["tuv", "wx"]]
    counts, figures = attacked(*series)
    assert counts["risk"].undecided == 3
    assert counts["risk"].broken == 0
    assert figures.decided == 2
    counts, _ = attacked(*series, is_bounded=True)
    assert counts["risk"].undecided == 0


def test_tables_that_no_assignment_explains_are_broken_for_everybody():
    seen = release(["ux"], linked=True)
    others = seen.covering.with_columns(value=pl.lit("e"))
    owed = others.select("person", "value", promised=pl.lit(1))
    choices = replace(seen, covering=others)
    found = attack_assignments(SeriesInput([choices], owed), [2])
    assert {scope: (count.people, count.broken) for scope, count in found.each()} == {"assignments": (2, 2)}


def test_where_no_number_of_candidates_is_promised_nothing_is_attacked():
    seen = release(["ux"], linked=True)
    owed = seen.covering.select("person", "value", promised=pl.lit(1))
    assert attack_assignments(SeriesInput([seen], owed), [None]) is None


def test_a_single_release_is_a_series():
    counts, _ = attacked(["ux", "vy"])
    assert counts["assignments"] == (4, 0, 2, 2, 0, 1)


def test_who_is_promised_candidates_is_attacked_with_all_releases_together():
    seen = release(["ux"], linked=True)
    owed = seen.covering.select("person", "value", promised=pl.lit(1))
    found = Candidates.attack_series(SeriesInput([seen], owed), [Promise(Candidates(3))])
    assert dict(found.each())["assignments"].broken == 2
