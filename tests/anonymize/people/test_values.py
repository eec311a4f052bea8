"""The refusal of values that are one value in two spellings: said without any one person's value."""

import polars as pl
import pytest

from anonymize.contract import Sensitive
from anonymize.errors import SnapshotError
from anonymize.people.values import refuse_unfit

NOTHING = pl.Series([], dtype=pl.String)


def refusal(values, remembered=NOTHING):
    sensitive = Sensitive(name="disease", semantics="persistent")
    with pytest.raises(SnapshotError) as refused:
        refuse_unfit(pl.Series(values), sensitive, remembered)
    return str(refused.value)


def test_of_a_first_snapshot_nothing_is_said_of_releases_before():
    said = refusal(["flu", "flu", "FLU", "FLU"])
    assert said == "disease: 'FLU' and 'flu' are one value in two spellings: correct the source"


def test_what_the_releases_before_have_may_be_renamed():
    said = refusal(["FLU", "FLU"], pl.Series(["flu"]))
    assert "'FLU' and 'flu' are one value in two spellings, and the releases before have one of them" in said
    assert "(sensitive.renamed)" in said


def test_a_value_that_one_person_has_is_counted_and_not_named():
    assert "'flu' and a value that one person has are one value" in refusal(["flu", "flu", "FLU"])
    assert "disease: 2 values of one person each are one value" in refusal(["flu", "FLU"])
    assert "'flu' and a value that one person has" in refusal(["FLU"], pl.Series(["flu"]))
