"""A release of nobody would be a fact as any other: it is refused, under every principle and policy."""

import polars as pl
import pytest

import republish as rp
from republish.anonymize.errors import NotEligible
from tests.hospital import RELEASES, make, published

FIRST = RELEASES[0]
WAITING = (
    {"name": "m_invariance", "m": 2, "on_ineligible": "wait"},
    {"name": "e_equivalence", "m": 2, "e": 2, "on_ineligible": "wait"},
    {"name": "global_guarantee", "l": 2, "strategy": "minimum", "on_ineligible": "wait"},
)


@pytest.fixture
def uneven(hospital):
    """The first snapshot has the flu for two of three people."""
    third = pl.int_range(pl.len()) % 3 == 0
    flu = pl.when(third).then(pl.col("disease")).otherwise(pl.lit("flu"))
    hospital.deliver(FIRST, hospital.snapshot(FIRST).with_columns(disease=flu))
    return hospital


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(("principle", "shards"), [*((one, 1) for one in WAITING), (WAITING[0], 2)])
def test_a_release_in_which_everybody_would_wait_is_refused(uneven, tmp_path, principle, shards):
    uneven.under(principle, **({"shards": shards} if shards > 1 else {}))
    with pytest.raises(NotEligible, match="nobody to publish: all 300 people would be held back") as refusal:
        make(uneven.series(tmp_path / "home"), FIRST)
    assert refusal.value.exit_code == 3
    assert not published(tmp_path / "home")


def test_nor_is_nobody_published_where_that_is_accepted_as_ordinary(hospital, tmp_path):
    hospital.deliver(FIRST, hospital.snapshot(FIRST).clear())
    hospital.declare(accept={FIRST: ["people"]})
    with pytest.raises(NotEligible, match="there is nobody to publish: release a snapshot that has people"):
        make(hospital.series(tmp_path / "home"), FIRST)
    assert not published(tmp_path / "home")


def test_from_python_nobody_is_published_either(uneven):
    contract = rp.Contract.load(uneven.under(WAITING[0]).contract)
    with pytest.raises(NotEligible, match="nobody to publish: all 300 people would be held back"):
        rp.release(uneven.snapshot(FIRST), contract, date=FIRST)


@pytest.mark.parametrize("principle", WAITING, ids=lambda one: one["name"])
def test_to_wait_is_no_way_out_where_nobody_else_is_published(uneven, tmp_path, principle):
    uneven.under({**principle, "on_ineligible": "refuse"})
    with pytest.raises(NotEligible) as refusal:
        make(uneven.series(tmp_path / "home"), FIRST)
    said = str(refusal.value)
    assert "wait" not in said
    assert "lower l" not in said
    assert "at most 0" not in said
    assert "merge rare and frequent values" in said
