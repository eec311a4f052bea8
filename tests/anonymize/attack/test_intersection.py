import polars as pl

from republish.anonymize.attack.intersection import (
    Intersected,
    candidates,
    changed,
    intersect,
    intersect_hosts,
    intersected,
)
from republish.anonymize.columns import counted
from republish.anonymize.formats.published import Published

DOMAIN = pl.Series("value", ["bronchitis", "dyspepsia", "flu", "gastritis"])


def groups(*signatures):
    """Groups 0, 1, …: group g covers the ages 10 g to 10 g + 9."""
    rows = [(g, value) for g, signature in enumerate(signatures) for value in signature.split()]
    return Published(
        pl.DataFrame(
            {
                "group_id": range(len(signatures)),
                "age_low": [10 * g for g in range(len(signatures))],
                "age_high": [10 * g + 9 for g in range(len(signatures))],
            }
        ),
        pl.DataFrame(rows, schema=["group_id", "value"], orient="row").with_columns(tuples=1),
        pl.DataFrame({"group_id": [], "count": []}),
    )


def people(**members):
    rows = [(person, *member) for person, member in members.items()]
    return pl.DataFrame(rows, schema=["person", "value", "age"], orient="row")


def attack(*releases):
    state = None
    for release, (table, published) in enumerate(releases, start=1):
        state = intersect(table, published, DOMAIN, release, state)
    return state


def left(state, scope="value"):
    found = candidates([state], scope)
    return dict(found.sort("person").select("person", "candidates").iter_rows())


def test_different_signatures_over_a_lifespan_give_the_value_away():
    bob = people(bob=("dyspepsia", 5))
    state = attack((bob, groups("dyspepsia bronchitis")), (bob, groups("dyspepsia gastritis")))
    assert left(state) == {"bob": 1}
    found = Intersected(attacked=1, vulnerable=1, empty=0, smallest=1, mean=1.0)
    assert intersected(candidates([state])) == found


def test_a_series_of_a_smaller_domain_does_not_have_the_values_that_came_later():
    bob = people(bob=("v0", 5))
    wide = pl.Series("value", [f"v{number}" for number in range(65)])
    series = [
        intersect(bob, groups(signature), domain, 1, None)
        for signature, domain in (("v0 v1", wide.head(64)), ("v0 v64", wide))
    ]
    assert candidates(series, "value")["candidates"].to_list() == [1]


def test_lifespans_are_apart_until_someone_links_them():
    bob, nobody = people(bob=("flu", 5)), people(eve=("flu", 15))
    both = groups("flu bronchitis", "flu gastritis")
    state = attack((bob, both), (nobody, both), (bob, groups("flu gastritis")))
    assert candidates([state], "lifespan").filter(person="bob")["candidates"].to_list() == [2, 2]
    assert left(state) == {"bob": 1, "eve": 2}


def test_someone_who_leaves_keeps_what_was_found_out():
    bob = people(bob=("flu", 5))
    state = attack(
        (bob, groups("flu gastritis")),
        (bob, groups("flu bronchitis")),
        (people(eve=("flu", 5)), groups("flu dyspepsia")),
    )
    assert left(state) == {"bob": 1, "eve": 2}


def test_a_disjoint_signature_after_a_change_misleads_instead_of_telling():
    state = attack(
        (people(bob=("flu", 5)), groups("flu gastritis")),
        (people(bob=("dyspepsia", 5)), groups("dyspepsia bronchitis")),
    )
    assert left(state, "person") == {"bob": 0}
    assert candidates([state])["candidates"].to_list() == [2, 2]
    assert changed([state])["person"].to_list() == ["bob"]


def test_quasi_identifiers_of_the_day_decide():
    published = groups("flu gastritis", "flu bronchitis")
    state = attack((people(bob=("flu", 9)), published), (people(bob=("flu", 10)), published))
    assert left(state) == {"bob": 1}


def test_two_series_are_intersected_with_each_other():
    bob = people(bob=("flu", 5))
    one, other = attack((bob, groups("flu gastritis"))), attack((bob, groups("flu bronchitis")))
    assert left(one) == left(other) == {"bob": 2}
    assert candidates([one, other], "value")["candidates"].to_list() == [1]
    assert candidates([one, other], "lifespan")["candidates"].to_list() == [2, 2]


def test_knowing_the_hosting_group_is_stronger_than_coverage():
    bob = people(bob=("flu", 5))
    overlapping = Published(
        pl.DataFrame({"group_id": [1, 2], "age_low": [0, 0], "age_high": [9, 9]}),
        pl.DataFrame({"group_id": [1, 1, 2], "value": ["flu", "gastritis", "dyspepsia"], "tuples": 1}),
        pl.DataFrame({"group_id": [], "count": []}),
    )
    host = pl.DataFrame({"person": ["bob"], "group_id": [1]})
    assert left(intersect(bob, overlapping, DOMAIN, 1)) == {"bob": 3}
    assert left(intersect_hosts(bob, host, overlapping, DOMAIN, 1)) == {"bob": 2}


def test_values_that_appear_later_don_t_disturb_earlier_sets():
    bob = people(bob=("flu", 5))
    state = intersect(bob, groups("flu gastritis"), DOMAIN, 1)
    later = pl.concat([DOMAIN, pl.Series("value", [f"new {n}" for n in range(100)])])
    assert left(intersect(bob, groups("flu gastritis"), later, 2, state)) == {"bob": 2}


def test_everybody_is_counted_once():
    table = people(bob=("flu", 5), eve=("flu", 15), dan=("gastritis", 16))
    state = attack((table, groups("flu", "flu gastritis")))
    assert counted(candidates([state])["candidates"]) == {1: 1, 2: 2}
