"""A chart of shares as SVG: its names are as they are, and its lines where their shares are."""

import xml.etree.ElementTree as ET

from republish.anonymize.plot import ShareChart, Steps
from republish.orchestration.share_chart import BOTTOM, COLOURS, LEFT, OTHERS, RIGHT, TOP, as_svg

SVG = "{http://www.w3.org/2000/svg}"


def chart(*lines, others=""):
    return ShareChart("widths", "of the domain", "of groups", lines, others)


def drawn(shown):
    """The words of a chart in order, and each line's path by its colour."""
    tree = ET.fromstring(as_svg(shown))  # noqa: S314 - our own
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
