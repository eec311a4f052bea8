"""How the experiments of the m-invariance paper count people, on few of them."""

import numpy as np
import polars as pl
import pytest

from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census_series
from benchmarks.measures.cells import cells_of_groups, cells_of_people
from benchmarks.measures.copied import ENOUGH, copied_cells, copies_of_release
from benchmarks.measures.queries import range_workload
from benchmarks.papers.m_invariance import Case, measure
from benchmarks.series import released

CASE = Case("occupation", 4, 100, 1_000)


@pytest.fixture(scope="module")
def release():
    *_, made = released(census_series(3_000, CASE.live, CASE.r, releases=3), CASE.contract)
    return made


@pytest.mark.slow("takes more than a second")
def test_what_the_product_estimates_is_the_sum_over_cells(release):
    workload = range_workload(release.contract, 5, 0.3, np.random.default_rng(1))
    found = copied_cells(release.candidate.published, release.contract).counts(workload)
    names = [*QUASI_IDENTIFIERS, "occupation"]
    people = copies_of_release(release.candidate.published, release.contract)
    for query, count in enumerate(found):
        low, high = workload.low[query].copy(), workload.high[query].copy()
        low[-1], high[-1] = low[-1] + DOMAINS["occupation"][0], high[-1] + DOMAINS["occupation"][0]
        ranges = zip(names, low, high, strict=True)
        inside = people.filter(pl.col(name).is_between(start, end) for name, start, end in ranges)
        assert count == pytest.approx(inside.height / ENOUGH)


@pytest.mark.slow("takes more than a second")
def test_every_reading_of_a_release_has_as_many_people_as_the_table(release):
    everything = range_workload(release.contract, 1, 1, np.random.default_rng(1))
    evenly = cells_of_groups(release.read, release.contract)
    estimated = copied_cells(release.candidate.published, release.contract)
    for cells in (cells_of_people(release.people, release.contract), evenly, estimated):
        assert cells.counts(everything) == pytest.approx([1_000])


@pytest.mark.slow("makes many releases")
def test_larger_groups_have_longer_intervals_and_larger_errors():
    of_ten, of_four = (next(measure(Case("occupation", m, 100, 2_000), 1)) for m in (10, 4))
    assert of_ten["ncp"] > of_four["ncp"]
    assert of_ten["evenly 0.1"] > of_four["evenly 0.1"]
    assert 0 < of_ten["estimated 0.1"] < of_ten["evenly 0.1"]
