"""An adversary who knows how values of columns go together: nothing is found in groups whose combinations
differ in every column, and something in others."""

import polars as pl
import pytest

from republish.anonymize.attack.coverage import signatures
from republish.anonymize.attack.measures.correlations import guess_by_correlations, together
from republish.anonymize.attack.measures.guessing import guess_values
from republish.anonymize.columns import VALUE
from republish.anonymize.contract.combined import combine
from republish.anonymize.formats.published import Published, with_fewer_columns
from tests.anonymize.test_several_columns import contract

DECLARED = contract(sensitive=[{"name": "disease"}, {"name": "cure"}])
APART = [("flu", "rest"), ("gout", "diet"), ("burn", "cream")]
SHARED = [("flu", "rest"), ("flu", "pills"), ("gout", "diet")]


def values(rows):
    table = pl.DataFrame(rows, ["value_0", "value_1"], orient="row")
    return combine(table, DECLARED)[VALUE]


def attacked(rows, groups=4, counterfeits=(), linked=True, ever=()):
    """Groups with the same rows, one person to each, and counterfeits that nobody is."""
    held = values([*rows, *counterfeits])
    published = Published(
        pl.DataFrame({"group_id": range(groups), "qi_0_low": [0] * groups, "qi_0_high": [99] * groups}),
        pl.concat(pl.DataFrame({"group_id": g, VALUE: held, "tuples": 1}) for g in range(groups)),
        pl.DataFrame({"group_id": range(groups), "count": len(counterfeits)}).filter(pl.col("count") > 0),
    )
    people = pl.DataFrame({VALUE: values(rows * groups)}).with_row_index("person")
    known = people.with_columns(qi_0=pl.col("person") % 100)
    hosts = people.select("person", (pl.col("person") // len(rows)).cast(pl.Int64).alias("group_id"))
    domain = held.unique().sort()
    left = known.join(hosts, on="person").join(signatures(published.values, domain), on="group_id")
    occur = pl.concat([known[VALUE], values(list(ever))]) if ever else known[VALUE]
    occur = occur.value_counts(name="people")
    found = guess_by_correlations(
        *(known, published, DECLARED.sensitive, occur, left.with_columns(until=1), domain),
        hosts if linked else None,
    )
    return found, known, published, hosts


@pytest.mark.parametrize("linked", [True, False])
def test_of_combinations_that_differ_in_every_column_one_is_as_likely_as_another(linked):
    found = attacked(APART, linked=linked)[0]
    assert found.people == 12
    assert found.by_column == pytest.approx({"disease": 1 / 3, "cure": 1 / 3})
    assert found.together == pytest.approx(1 / 3)
    assert found.ruled_out == 0


def test_a_value_that_two_rows_of_a_group_share_is_guessed_in_its_column():
    found, known, published, hosts = attacked(SHARED)
    assert found.by_column == found.at_random == pytest.approx({"disease": 2 / 3, "cure": 1 / 3})
    alone = with_fewer_columns(published, known, DECLARED.sensitive, ["disease"])
    assert guess_values(alone[1], alone[0], DECLARED, hosts).at_random == pytest.approx(5 / 9)


def test_what_nobody_ever_had_is_ruled_out():
    never, once = [("burn", "cream")], [("flu", "rest"), ("gout", "diet")]
    found = attacked(once, counterfeits=never)[0]
    assert found.ruled_out == found.people == 8
    assert found.by_column == pytest.approx({"disease": 1 / 2, "cure": 1 / 2})
    assert found.at_random == pytest.approx({"disease": 1 / 3, "cure": 1 / 3})
    # One that somebody had before is as likely as the others.
    assert attacked(once, counterfeits=never, ever=never * 4)[0].together == pytest.approx(1 / 3)


def test_lift_is_how_much_more_often_values_are_together_than_by_chance():
    flu_rest, flu_diet, gout_diet = three = [("flu", "rest"), ("flu", "diet"), ("gout", "diet")]
    rows = [flu_rest] * 3 + [flu_diet] + [gout_diet] * 4
    found = together(values(rows).value_counts(name="people"), DECLARED.sensitive)
    lift = dict(zip(found[VALUE], found["lift"], strict=True))
    chance = [1 / 2 * 3 / 8, 1 / 2 * 5 / 8, 1 / 2 * 5 / 8]
    expected = [share / by for share, by in zip([3 / 8, 1 / 8, 4 / 8], chance, strict=True)]
    assert [lift[value] for value in values(three)] == pytest.approx(expected)
