"""Definition 17, release by release, on published tables and hosting groups."""

import polars as pl

from republish.anonymize.attack.invariance import moved_since
from republish.anonymize.formats.published import Published


def published(groups):
    """Groups given as `{group: "value value …"}`, no quasi-identifiers."""
    values = [(group, value) for group, held in groups.items() for value in held.split()]
    frame = pl.DataFrame(values, schema={"group_id": pl.Int64, "value": pl.String}, orient="row")
    return Published(
        pl.DataFrame({"group_id": list(groups)}),
        frame.group_by("group_id", "value").agg(pl.len().cast(pl.Int64).alias("tuples")),
        pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
    )


def table(people):
    """`{person: (value, group)}` as T(n) and hosting groups."""
    return (
        pl.DataFrame({"person": list(people), "value": [value for value, _ in people.values()]}),
        pl.DataFrame({"person": list(people), "group_id": [group for _, group in people.values()]}),
    )


def through(*releases):
    """How many moved at each release: `({person: (value, group)}, {group: values})`."""
    before, found = None, []
    for people, groups in releases:
        here, hosts = table(people)
        moved, before = moved_since(here, hosts, published(groups), before)
        found.append(moved)
    return found


FIRST = ({"t": ("a", 1), "u": ("b", 1), "v": ("c", 1)}, {1: "a b c"})


def test_a_signature_kept_is_invariance():
    later = ({"t": ("a", 7), "w": ("b", 7)}, {7: "a c b"})
    assert through(FIRST, later) == [0, 0]


def test_a_signature_of_the_same_size_with_another_value_is_not():
    # Two candidates of t are left, and m is 2: only Definition 17 is broken.
    later = ({"t": ("a", 1), "w": ("d", 1)}, {1: "a b d"})
    assert through(FIRST, later)[1] == 1


def test_a_larger_signature_is_another_one():
    later = ({"t": ("a", 1)}, {1: "a b c d"})
    assert through(FIRST, later)[1] == 1


def test_with_a_new_value_or_after_an_absence_another_signature_is_allowed():
    changed = ({"t": ("d", 1), "w": ("e", 1)}, {1: "d e"})
    assert through(FIRST, changed)[1] == 0
    away = ({"w": ("d", 1), "x": ("e", 1)}, {1: "d e"})
    back = ({"t": ("a", 1), "y": ("e", 1)}, {1: "a e"})
    assert through(FIRST, away, back) == [0, 0, 0]


def test_people_without_a_known_group_are_not_counted():
    people, hosts = table({"t": ("a", 1), "u": ("b", 1)})
    _, known = moved_since(people, hosts.head(1), published({1: "a b"}))
    assert known["person"].to_list() == ["t"]
