"""Promises are data: everybody is judged by what they were promised, and by nothing that was not."""

import polars as pl
import pytest

from republish.anonymize.attack.finding import Count, finding
from republish.anonymize.attack.judged import promised as promised_to
from republish.anonymize.promise import Candidates, LargestShare, Linkability, LinkedValues
from republish.anonymize.promise.registry import describe_findings
from tests import findings as fi
from tests.anonymize.attack import attack_series as generalized
from tests.anonymize.attack.attack_series import broken
from tests.anonymize.e_equivalence import equivalence_series as equivalent
from tests.anonymize.e_equivalence.equivalence_series import Life
from tests.findings import promise

TWO, FOUR = (promise(candidates=m, largest_share=1 / m) for m in (2, 4))


def findings(attacked):
    return {row["promise"]: row for row in attacked.findings.rows(named=True)}


def m_invariant(ms):
    """A series whose m may change from release to release, and its contract."""
    contracts = [generalized.contract(m=m) for m in ms]
    snapshots = generalized.snapshots(count=300, releases=len(ms), churn=0.3)
    return generalized.publish(snapshots, contracts), contracts[0]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("linked", [True, False])
def test_a_series_whose_m_was_raised_keeps_what_each_person_was_promised(linked):
    released, declared = m_invariant([2, 2, 4, 4])
    promises = [TWO, TWO, FOUR, FOUR]
    for attacked in generalized.attack_each(released, declared, promises=promises, linked=linked):
        assert broken(attacked) == set()


@pytest.mark.slow("takes more than a second")
def test_the_same_series_does_not_keep_the_larger_m_for_the_people_of_the_first_releases():
    released, declared = m_invariant([2, 2, 4, 4])
    attacked = generalized.attack_series(released, declared, promises=[FOUR] * 4)
    assert {fi.HOST_CANDIDATES, fi.SHARE} <= broken(attacked)


def test_a_newcomer_who_gets_less_than_is_promised_today_breaks_the_promise():
    released, declared = m_invariant([2, 2, 2])
    before, last = released[1].linkage, released[2].linkage
    *earlier, today = generalized.attack_each(released, declared, promises=[TWO, TWO, FOUR])
    assert [broken(attacked) for attacked in earlier] == [set(), set()]
    assert {fi.HOST_CANDIDATES, fi.SHARE} <= broken(today)
    newcomers = last.join(pl.concat([released[0].linkage, before]), on="patient", how="anti").height
    assert 0 < findings(today)[fi.HOST_CANDIDATES]["broken"] <= newcomers


@pytest.mark.slow("takes more than a second")
def test_what_a_larger_m_promised_holds_after_it_is_lowered():
    released, declared = m_invariant([4, 2, 2])
    *_, last = generalized.attack_each(released, declared, promises=[FOUR, TWO, TWO])
    assert broken(last) == set()
    lowered, _ = m_invariant([2, 2, 2])
    *_, last = generalized.attack_each(lowered, declared, promises=[FOUR, TWO, TWO])
    assert fi.HOST_CANDIDATES in broken(last)


def rows_of(attacked, name):
    """What was promised of one thing, since when, and whether what was found keeps it."""
    rows = attacked.findings.filter(promise=name).rows(named=True)
    return [(row["since"], row["required"], row["broken"], row["people"] > 0, row["holds"]) for row in rows]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize(("ms", "rows"), [([2, 4, 4], [(1, 2), (2, 4)]), ([4, 2, 4], [(1, 4), (2, 2)])])
def test_a_promise_that_changed_has_a_row_for_each_figure(ms, rows, linked):
    """One row for both said "found 2, promised 4, holds"."""
    released, declared = m_invariant(ms)
    promises = [{2: TWO, 4: FOUR}[m] for m in ms]
    *_, last = generalized.attack_each(released, declared, promises=promises, linked=linked)
    kept = [(since, m, 0, True, True) for since, m in rows]
    of_linked = [fi.HOST_CANDIDATES] if linked else []
    for name in (fi.CANDIDATES, fi.SIGNATURES, *of_linked):
        assert rows_of(last, name) == kept
        found = last.findings.filter(promise=name)
        assert (found["found"] >= found["required"]).all()
    shares = [(since, 1 / m, 0, True, True) for since, m in rows]
    assert rows_of(last, fi.SHARE) == shares
    said = describe_findings(last.findings)
    assert "at least 2 promised since release" in said
    assert "at least 4 promised since release" in said


def test_each_row_is_broken_for_its_own_people():
    released, declared = m_invariant([2, 2])
    ever = released[0].linkage.height
    *_, last = generalized.attack_each(released, declared, promises=[TWO, FOUR])
    (_, _, kept, _, holds), (_, _, broken_, _, later_holds) = rows_of(last, fi.HOST_CANDIDATES)
    assert (kept, holds) == (0, True)
    assert 0 < broken_ < ever
    assert not later_holds


@pytest.mark.parametrize(
    ("name", "stated", "figures"),
    [(fi.BREACH, "breach_probability", (0.95, 0.99)), ("share among people", "people_per_group", (2, 3))],
)
def test_so_have_probabilities_and_company(name, stated, figures):
    released, declared = m_invariant([4, 4])
    promises = [promise(**{stated: figure}) for figure in figures]
    *_, last = generalized.attack_each(released, declared, promises=promises)
    required = [1 / figure if figure > 1 else figure for figure in figures]
    assert [row[:2] for row in rows_of(last, name)] == list(enumerate(required, start=1))
    assert last.findings.filter(promise=name)["people"].sum() == released[1].linkage.height


def test_what_is_not_promised_makes_no_row():
    released, declared = m_invariant([2, 2])
    attacked = generalized.attack_series(released, declared, promises=[promise()] * 2, everything=True)
    about_figures = {fi.SHARE, fi.CANDIDATES, fi.HOST_CANDIDATES, fi.CHANGES, fi.BREACH, fi.EQUIVALENCE}
    assert about_figures.isdisjoint(findings(attacked))
    assert attacked.holds
    assert attacked.figures["smallest_candidates"] >= 2  # a figure all the same
    assert attacked.figures["largest_breach_probability"] > 0
    assert attacked.tables.keys() == {"coverage", "counterfeits", "minimum_widths"}


def test_a_promise_begins_with_the_release_that_makes_it():
    released, declared = m_invariant([2, 2, 2])
    nothing_then_two = [promise(), promise(), TWO]
    attacked = generalized.attack_series(released, declared, promises=nothing_then_two)
    assert findings(attacked)[fi.HOST_CANDIDATES]["required"] == 2
    assert broken(attacked) == set()


def test_each_row_is_promised_what_its_release_promised():
    people = pl.DataFrame({"promised": [1, 2, 3]})
    promises = [TWO, promise(equivalence=3), FOUR]
    assert people.select(
        promised_to([part and part.candidates for part in Candidates.given(promises)])
    ).to_series().to_list() == [2, None, 4]


# ---- e-equivalence


def equivalent_series(es, seed=1):
    snapshots = Life(seed, churn=0.3, releases=len(es)).snapshots()
    return equivalent.publish(snapshots, [equivalent.contract(e=e) for e in es])


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("seed", range(4))
def test_a_series_whose_e_was_raised_keeps_what_each_person_was_promised(seed):
    made = equivalent_series([2, 2, 2, 4, 4, 4], seed)
    for attacked in equivalent.attack_each(made, everything=True):
        assert broken(attacked) == set()
    assert [row[:2] for row in rows_of(attacked, fi.EQUIVALENCE)] == [(1, 2), (4, 4)]


@pytest.mark.slow("attacks many releases")
def test_people_who_came_under_a_larger_e_and_get_the_smaller_one_break_the_promise():
    promises = [promise(equivalence=e) for e in (2, 2, 2, 6, 6, 6)]
    found = []
    for seed in range(2):
        made = equivalent_series([2] * 6, seed)
        *_, last = equivalent.attack_each(made, promises, everything=True)
        found.append(findings(last)[fi.EQUIVALENCE]["broken"])
        earlier = {who for one in made[:3] for who in one.people["identifier"]}
        ever = {who for one in made for who in one.people["identifier"]}
        counterfeits = sum(one.candidate.figures.counterfeits for one in made[3:])
        assert found[-1] <= len(ever - earlier) + counterfeits
    assert any(found)


def test_cuts_are_counted_for_what_today_promises():
    made = equivalent_series([2, 4])
    first, second = equivalent.attack_each(made)
    assert first.tables["cuts"]["min_cut"].min() > 2
    assert second.tables["cuts"]["min_cut"].min() > 6
    no_promise = equivalent.attack_each(made, [promise(candidates=2)] * 2)
    assert all("cuts" not in attacked.tables for attacked in no_promise)


# ---- undecided


@pytest.mark.slow("attacks many releases")
def test_what_there_was_no_time_for_is_undecided_and_not_broken():
    made = equivalent_series([3] * 5)
    *_, in_time = equivalent.attack_each(made, everything=True)
    *_, too_late = equivalent.attack_each(made, everything=True, seconds=0)
    decided, undecided = (findings(attacked)[fi.EQUIVALENCE] for attacked in (in_time, too_late))
    assert (decided["broken"], decided["undecided"]) == (0, 0)
    assert undecided["undecided"] > 0
    assert undecided["broken"] == 0
    assert undecided["holds"]
    assert too_late.holds


def test_what_is_broken_is_broken_however_little_is_decided():
    row = finding(fi.EQUIVALENCE, Count(people=10, broken=1, undecided=9)).row(0, named=True)
    assert not row["holds"]
    assert finding(fi.EQUIVALENCE, Count(people=10, broken=0, undecided=10))["holds"].item()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Linkability, "at most 0.5 promised, largest found 0.25"),
        (LinkedValues, "at least 0.5 promised, fewest found 0.25"),
    ],
)
def test_the_words_of_a_join_say_which_way_its_figure_was_promised(kind, words):
    assert words in describe_findings(kind.scopes[""].finding(Count(5, 0, 0.25, 0.5)))
    share = LargestShare.scopes[""].finding(Count(5, 0, 0.25, 0.5))
    assert "Share of a value: at most" in describe_findings(share)


def test_what_is_found_says_whether_it_keeps_the_promise_and_why_fewer_are_looked_at():
    hosts, covered = (Candidates.scopes[key] for key in ("hosts", "covered"))
    rows = [hosts.finding(Count(3134, 0, 4, 2)), covered.finding(Count(4970, 0, 2, 2, undecided=7))]
    said = describe_findings(pl.concat(rows))
    assert "at least 2 promised, fewest found 4, which keeps it; 3,134 looked at." in said
    assert "fewest found 2, not decided for 7; 4,970 looked at." in said
    assert "A promise looks at the people whom it is about and whose groups are known." in said
    assert "1, broken for 3; 5 looked at" in describe_findings(hosts.finding(Count(5, 3, 1, 2)))
