"""The refusal of values that are one value in two spellings: said without any one person's value."""

import polars as pl
import pytest

from republish.anonymize.contract import Sensitive
from republish.anonymize.errors import SnapshotError
from republish.anonymize.people.values import refuse_unfit

NOTHING = pl.Series([], dtype=pl.String)


def refusal(values, remembered=NOTHING):
    sensitive = Sensitive(name="disease", semantics="persistent")
    with pytest.raises(SnapshotError) as refused:
        refuse_unfit(pl.Series(values), sensitive, remembered)
    return str(refused.value)


def test_of_a_first_snapshot_nothing_is_said_of_releases_before():
    said = refusal(["flu", "FLU"] * 5)
    assert said == "disease: 'FLU' and 'flu' are one value in two spellings: correct the source"


def test_what_the_releases_before_have_may_be_renamed():
    said = refusal(["FLU"] * 5, pl.Series(["flu"]))
    assert "'FLU' and 'flu' are one value in two spellings, and the releases before have one of them" in said
    assert "(sensitive.renamed)" in said


def test_a_value_that_few_people_have_is_counted_and_not_named():
    few = "of fewer than 5 people"
    assert f"'flu' and a value {few} are one value" in refusal([*["flu"] * 5, *["FLU"] * 4])
    assert f"disease: 2 values {few} each are one value" in refusal(["flu", "FLU"] * 4)
    assert f"'flu' and a value {few}" in refusal(["FLU"], pl.Series(["flu"]))
