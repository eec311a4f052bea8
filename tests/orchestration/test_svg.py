"""A chart of shares as SVG: its names are as they are, and its lines where their shares are."""

import xml.etree.ElementTree as ET

from republish.anonymize.plot import (
    Bar,
    Bars,
    Diagram,
    Join,
    Lines,
    OverReleases,
    Point,
    ShareChart,
    Steps,
)
from republish.orchestration.drawing import as_svg
from republish.orchestration.drawing.axes import (
    BOTTOM,
    CHANGED,
    COLOURS,
    LEFT,
    OTHERS,
    PROMISED,
    RIGHT,
    TOP,
)

SVG = "{http://www.w3.org/2000/svg}"


def chart(*lines, others=""):
    return ShareChart("widths", "of the domain", "of groups", lines, others)


def drawn(shown, **how):
    """The words of a chart in order, and each line's path by its colour."""
    tree = ET.fromstring(as_svg(shown, **how))  # noqa: S314 - our own
    words = [element.text for element in tree.iter(f"{SVG}text")]
    paths = {}
    for element in tree.iter(f"{SVG}path"):
        paths.setdefault(element.get("stroke"), []).append(element.get("d"))
    return words, paths


def test_names_are_shown_as_they_are_and_what_is_no_letter_is_written_out():
    names = ["$^$", "_hidden", "a$b", "<b>&amp;", "{a}", 'x"y']
    words, _ = drawn(chart(*(Steps(((0.5, 1.0),), name) for name in (*names, "a\nb\x00"))))
    assert words[-7:] == ["a\\nb\\x00", *reversed(names)]


def test_a_line_goes_up_at_each_width_to_the_share_of_groups():
    _, paths = drawn(chart(Steps(((0.0, 0.25), (0.5, 0.5), (1.0, 1.0)), "age")))
    middle, quarter = (LEFT + RIGHT) / 2, BOTTOM - (BOTTOM - TOP) / 4
    line = f"M{LEFT} {BOTTOM}H{LEFT}.0V{quarter}H{middle}V{(BOTTOM + TOP) / 2}H{RIGHT}.0V{TOP}.0"
    assert paths[COLOURS[0]][0] == line


def test_lines_without_a_name_are_grey_and_named_together():
    lines = [Steps(((0.1 * n, 1.0),), f"q{n}" if n < 2 else None) for n in range(5)]
    words, paths = drawn(chart(*lines, others="3 others, narrower"))
    assert words[-3:] == ["3 others, narrower", "q1", "q0"]
    assert len(paths[OTHERS]) == 4  # and the one beside their name


def test_a_chart_of_nothing_has_its_axes():
    words, paths = drawn(chart(Steps((), "age")))
    assert {"of the domain", "of groups", "age"} < set(words)
    assert paths[COLOURS[0]][0] == f"M{LEFT} {BOTTOM}"


# ---- over releases


def over(lines, **further):
    releases = tuple(f"2024-0{n}-01" for n in range(1, 1 + max(map(len, lines.values()))))
    return OverReleases("left", "values", releases, lines, **further)


def test_a_line_has_a_point_where_a_release_has_a_figure():
    words, paths = drawn(over({"fewest": (10, None, 5, 0)}))
    line, _ = paths[COLOURS[0]]  # the second is beside its name
    points = [tuple(map(float, point.split())) for point in line[1:].split("L")]
    top = TOP + 20
    fourth = (RIGHT - LEFT) / 4
    assert (
        points
        == [
            (LEFT + fourth * (place + 0.5), BOTTOM - figure / 10 * (BOTTOM - top))
            for place, figure in ((0, 10), (2, 5), (3, 0))
        ]
        or points == points[::-1]
    )
    assert {"0", "2", "4", "6", "8", "10", "fewest", "2024-03-01"} < set(words)


def test_each_release_has_its_own_promised_level_and_a_change_is_marked_between_two():
    chart = over({"fewest": (3, 3, 4)}, promised=(3, 3, 4), promise="promised", changed={2: "m 3 → 4"}, top=5)
    words, paths = drawn(chart)
    assert words[-2:] == ["fewest", "promised"]
    assert "m 3 → 4" in words
    levels = [part.split() for part in paths[PROMISED][0][1:].split("M")]
    heights = [level[1].partition("H")[0] for level in levels]
    assert heights[0] == heights[1] != heights[2]
    (mark,) = paths[CHANGED]
    assert mark.startswith(f"M{round(LEFT + (RIGHT - LEFT) * 2 / 3, 1)} ")


def test_a_line_moves_where_two_of_its_figures_differ():
    assert not over({"fewest": (3, None, 3), "none": (None, None, None)}).moves
    assert over({"fewest": (3, 3), "median": (4, 5)}).moves


def test_what_is_of_no_size_has_axes_too():
    words, _ = drawn(over({"share": (0, 0)}))
    assert {"0", "0.2", "1", "share"} < set(words)


# ---- numbers over numbers, trees and graphs


def test_a_line_goes_through_its_points_and_each_of_them_has_its_name():
    chart = Lines("l", "promised", "error", {"a": (Point(50, 5, "m = 2"), Point(25, 10, "m = 4")), "b": ()})
    words, paths = drawn(chart)
    assert {"promised", "error", "a", "b", "m = 2", "m = 4", "0", "50", "10"} <= set(words)
    line = [tuple(map(float, point.split())) for point in paths[COLOURS[0]][0][1:].split("L")]
    (right, lower), (left, higher) = line
    assert higher == TOP + 2 * 16
    assert (lower, right - LEFT) == (BOTTOM - (BOTTOM - higher) / 2, 2 * (left - LEFT))


def test_a_chart_of_no_lines_has_its_axes():
    words, _ = drawn(Lines("l", "promised", "error", {}))
    assert {"promised", "error", "0", "1"} <= set(words)


def test_a_bar_is_as_wide_as_its_interval_and_as_high_as_its_number():
    tree = ET.fromstring(as_svg(Bars("b", "records / width", (Bar(0, 10, 4), Bar(10, 40, 1)))))  # noqa: S314
    _, *bars = tree.iter(f"{SVG}rect")
    size = [[float(bar.get(name)) for bar in bars] for name in ("width", "height")]
    assert [round(large / small, 2) for large, small in (size[0][::-1], size[1])] == [3, 4]


def test_nodes_are_joined_where_they_are_and_edges_have_their_names():
    nodes = (Point(0, 0.5, "any"), Point(1, 0, "a: 3", is_marked=True), Point(1, 1, "b: 4", is_marked=True))
    words, paths = drawn(Diagram("d", nodes, (Join(0, 1), Join(0, 2, "7")), 4, "records"))
    assert words == ["7", "any", "a: 3", "b: 4", "records"]
    begins = {path.split("L")[0] for path in paths[OTHERS]}
    assert (len(paths[OTHERS]), len(begins)) == (2, 1)


def test_a_diagram_of_nothing_says_so():
    assert drawn(Diagram("d", (), (), 0, "nobody is in the release"))[0] == ["nobody is in the release"]
