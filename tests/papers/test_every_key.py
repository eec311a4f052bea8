from fractions import Fraction

import polars as pl

from republish.anonymize.formats.published import Published
from tests.papers.every_key import algorithm_aware_posterior

# Liu and Wang, Privacy streamliner: the microdata of Table 1.
TABLE_1 = pl.DataFrame(
    {
        "release": 1,
        "person": ["Ada", "Bob", "Coy", "Dan", "Eve"],
        "value": ["flu", "flu", "cold", "cold", "HIV"],
        "born": [1985, 1980, 1975, 1970, 1965],
    }
)
NONE = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})


def best_partition(tables, _key):
    """Two groups if no value is more than 2/3 of either, else one: optimizing utility, as is usual."""
    (table,) = tables
    values = dict(table.select("person", "value").iter_rows())
    for partition in ((("Ada", "Bob"), ("Coy", "Dan", "Eve")), (tuple(values),)):
        groups = [sorted(values[person] for person in group) for group in partition]
        if all(3 * max(map(group.count, group)) <= 2 * len(group) for group in groups):
            return tuple(map(tuple, groups))
    return None


def one_group(table):
    return Published(
        pl.DataFrame({"group_id": [1], "born_low": [1965], "born_high": [1985]}),
        table["value"]
        .value_counts(name="tuples")
        .select(pl.lit(1).alias("group_id"), "value", pl.col("tuples").cast(pl.Int64)),
        NONE,
    )


def test_what_was_not_published_tells_as_much_as_what_was():
    found = algorithm_aware_posterior(
        TABLE_1, [one_group(TABLE_1)], best_partition, [b"any"], invariant=False
    )
    # One group of all five was published, so {Ada, Bob} would not have done: they have one value.
    assert found.before["Ada", "flu"] == {
        "flu": Fraction(2, 5),
        "cold": Fraction(2, 5),
        "HIV": Fraction(1, 5),
    }
    assert found.after["Ada", "flu"] == {"flu": Fraction(1, 2), "cold": Fraction(1, 2)}
    assert found.risk(("Eve", "HIV")) == (Fraction(1, 5), Fraction(1, 3))
    assert (len(found.hits), found.reproducing) == (30, 6)


def test_a_publisher_that_does_not_look_at_values_gives_nothing_away():
    def blind(tables, _key):
        return tuple(sorted(tables[0]["value"]))

    found = algorithm_aware_posterior(TABLE_1, [one_group(TABLE_1)], blind, [b"any"], invariant=False)
    assert found.before == found.after
    assert found.reproducing == len(found.hits)


def test_random_choices_are_weighed_by_how_often_they_are_made():
    def coin(tables, key):
        """Publishes Eve's value half of the times if it is HIV, and always if it is something else."""
        eve = tables[0].filter(person="Eve")["value"].item()
        return "kept" if eve == "HIV" and key[0] % 2 else "published"

    keys = [bytes([n]) for n in range(10)]
    found = algorithm_aware_posterior(TABLE_1, [one_group(TABLE_1)], coin, keys, invariant=False)
    # Odds of HIV were 1 : 4; half of its runs look otherwise.
    assert found.risk(("Eve", "HIV")) == (Fraction(1, 5), Fraction(1, 9))
