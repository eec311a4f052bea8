"""Definition 17, release by release, on published tables and hosting groups."""

import polars as pl

from republish.anonymize.attack.invariance import moved_people
from republish.anonymize.attack.stays import follow_stays

NOBODY_FORGED = pl.DataFrame(schema={"person": pl.Int64, "group_id": pl.Int64})


def table(people):
    """`{person: (value, group)}` as people in groups."""
    rows = [(person, *there) for person, there in people.items()]
    return pl.DataFrame(rows, schema=["person", "value", "group_id"], orient="row")


def through(*releases):
    """How many moved at each release: `({person: (value, group)}, {group: values})`."""
    before, found = None, []
    for number, (people, groups) in enumerate(releases, start=1):
        held = pl.DataFrame(
            [(group, value) for group, held in groups.items() for value in held.split()],
            schema=["group_id", "value"],
            orient="row",
        )
        stays = follow_stays(table(people), NOBODY_FORGED, held, number, before)
        found.append(len(moved_people(stays, before, number)))
        before = stays
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
