"""Cells of labels: intervals of a category with a hierarchy and `min_width` end where its groups do."""

import copy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.attack.publication import _ends_of_groups
from republish.anonymize.contract.attributes import CategoryAttribute, grid_of_labels
from republish.anonymize.contract.changes import begun_on_grid, column_changes, declared_columns
from republish.anonymize.contract.hierarchy import cells_of, check_hierarchy
from republish.anonymize.principles import parse_contract
from tests.clinic import CLINIC

REGIONS = {"north": 3, "south": 5, "east": 8}


def towns(**regions):
    """The paths of towns a region; those of a name with a dot are districts of it."""
    return tuple(
        (f"{region}{number}", region, region.split(".")[0], "all")
        for region, number_of_towns in regions.items()
        for number in range(number_of_towns)
    )


def attribute(paths, min_width):
    return CategoryAttribute(kind="category", name="town", hierarchy=paths, min_width=min_width)


@pytest.mark.parametrize(
    ("regions", "fewest", "cells"),
    [
        ({"north": 3, "south": 5, "east": 8}, 3, (0, 3, 8, 11)),  # five towns are no two cells of three
        ({"north": 3, "south": 5, "east": 8}, 4, (0, 8, 12)),  # a small one first is of the cell after it
        ({"north": 5, "south": 3, "east": 8}, 4, (0, 8, 12)),  # and else of that before it
        ({"north": 5, "south": 2, "island": 2, "east": 8}, 4, (0, 5, 9, 13)),  # small ones are joined
        ({"north": 5, "south": 8, "island": 1}, 5, (0, 5)),
        ({"north": 2, "south": 2, "island": 1}, 3, (0,)),
        ({"north.a": 2, "north.b": 2, "north.c": 2, "south.a": 4}, 4, (0, 6)),  # a parent's small children
        ({"north.a": 2, "north.b": 3, "south.a": 4}, 2, (0, 2, 5, 7)),
        ({"north": 3}, 9, (0,)),
    ],
)
def test_cells_end_where_groups_with_enough_labels_do(regions, fewest, cells):
    assert cells_of(towns(**regions), fewest) == cells


def test_a_hierarchy_without_groups_has_the_cells_of_the_grid():
    flat = [(f"label {number}", "all") for number in range(13)]
    assert attribute(flat, 5).cells is None
    assert cells_of(tuple(flat), 5) == grid_of_labels(13, 5) == (0, 5)


@pytest.mark.parametrize("min_width", [0, 1])
def test_without_a_width_every_label_ends_an_interval(min_width):
    assert attribute(towns(**REGIONS), min_width).cells is None


def test_an_order_is_no_hierarchy():
    order = [path[0] for path in towns(**REGIONS)]
    assert CategoryAttribute(kind="category", name="town", order=order, min_width=3).cells is None


def test_a_series_on_the_grid_has_no_cells_and_is_itself_otherwise():
    town = attribute(towns(**REGIONS), 3)
    assert town.cells == (0, 3, 8, 11)
    assert town.on_grid().cells is None
    assert (town.on_grid().ends_on_grid, town.ends_on_grid) == (True, False)
    assert town.on_grid().model_dump() == town.model_dump()
    assert copy.deepcopy(town.on_grid()).cells is None


@st.composite
def hierarchies(draw):
    depth = draw(st.integers(1, 3))

    def below(name, level):
        if level == 0:
            return [(name,)]
        children = range(draw(st.sampled_from([1, 1, 2, 3, 5, 9])))
        return [(*path, name) for child in children for path in below(f"{name}.{child}", level - 1)]

    return check_hierarchy(tuple(below("r", depth)))


@given(hierarchies(), st.integers(2, 12))
def test_no_cell_is_too_small_and_an_attack_finds_the_same_ones(paths, fewest):
    lines = [*cells_of(paths, fewest), len(paths)]
    assert lines[0] == 0
    assert len(lines) == 2 or min(after - before for before, after in pairwise(lines)) >= fewest
    assert _ends_of_groups(paths, fewest) == lines
    for level in range(1, len(paths[0])):
        starts = [at for at in range(len(paths)) if at == 0 or paths[at][level] != paths[at - 1][level]]
        sizes = [after - before for before, after in pairwise([*starts, len(paths)])]
        if min(sizes) >= fewest:  # of such groups nothing is cut
            assert {*starts} <= {*lines}


def contract(paths, min_width=3):
    return parse_contract(
        CLINIC
        | {
            "quasi_identifiers": [
                {"name": "town", "kind": "category", "hierarchy": paths, "min_width": min_width}
            ],
            "sensitive": {"name": "disease"},
            "principle": {"name": "m_invariance", "m": 2},
        }
    )


def test_a_hierarchy_with_other_cells_takes_consent():
    before = contract(towns(**REGIONS))
    declared = declared_columns(before)
    assert declared["quasi_identifiers"][0]["cells"] == [0, 3, 8, 11]
    assert column_changes(declared, before) == []
    moved = [(path[0], "north", "north", "all") if path[0] == "south0" else path for path in towns(**REGIONS)]
    (change,) = column_changes(declared, contract(moved))
    assert (change.name, change.verdict) == ("town.hierarchy", "consent")
    renamed = [(path[0], path[1] + "!", path[2] + "!", "all") for path in towns(**REGIONS)]
    assert column_changes(declared, contract(renamed)) == []  # the same groups
    flat = [(path[0], "all") for path in towns(**REGIONS)]
    assert [one.name for one in column_changes(declared, contract(flat))] == ["town.hierarchy"]
    wider = [one.name for one in column_changes(declared, contract(towns(**REGIONS), 4))]
    assert wider == ["town.min_width"]
    more = [one.name for one in column_changes(declared, contract(towns(north=4, south=5, east=8)))]
    assert more == ["town.labels"]


def test_the_digest_of_what_bears_on_privacy_knows_where_intervals_end():
    now = contract(towns(**REGIONS))
    (town,) = now.quasi_identifiers
    former = now.model_copy(update={"quasi_identifiers": (town.on_grid(),)})
    assert former.privacy_digest() != now.privacy_digest()
    flat = contract([(path[0], "all") for path in towns(**REGIONS)])
    (town,) = flat.quasi_identifiers
    alike = flat.model_copy(update={"quasi_identifiers": (town.on_grid(),)})
    assert alike.privacy_digest() == flat.privacy_digest()


def test_a_series_that_older_versions_began_is_known_by_what_it_declared():
    now = contract(towns(**REGIONS))
    (town,) = now.quasi_identifiers
    former = declared_columns(now.model_copy(update={"quasi_identifiers": (town.on_grid(),)}))
    assert "cells" not in former["quasi_identifiers"][0]
    assert begun_on_grid(former, town)
    assert column_changes(former, now) == []
    assert not begun_on_grid(declared_columns(now), town)
    assert not begun_on_grid(declared_columns(contract(towns(**REGIONS), 0)), town)
    flat = contract([(path[0], "all") for path in towns(**REGIONS)])
    assert not begun_on_grid(declared_columns(flat), town)
    assert not begun_on_grid(None, town)
