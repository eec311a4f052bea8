"""Forgetting people whom views have: there is no memory of people, and the next view is made."""

import polars as pl
import pytest

from republish.orchestration.rights.find import find
from republish.orchestration.rights.forget import forget, what_is_kept
from republish.orchestration.storage.store import read_table
from tests.hospital import make, published
from tests.orchestration.chain import test_view_chain as views

FIRST, SECOND = views.RELEASES
example = views.example


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("again", [True, False])
def test_a_view_goes_on_with_them_or_without(example, again):
    series = make(views.series_of(example), FIRST)
    who = str(pl.read_csv(example / f"t1/{FIRST}.csv")[series.contract.identifier][0])
    assert len(find(series, who).series[0].published) == 1
    before = published(series.home.path)
    forget(series, [who], again=again)
    assert [one.rows for one in what_is_kept(series, [who])] == [1 if again else 0]
    make(series, FIRST)
    assert published(series.home.path) == before
    make(series, SECOND)
    taken = read_table(series.private(SECOND) / "snapshot.parquet")["identifier"].cast(pl.String)
    assert (who in taken.to_list()) == again
