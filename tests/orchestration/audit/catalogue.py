"""Every English text that a report may say: of the parts of promises, in the code, and in the template."""

import ast
from pathlib import Path

import jinja2
from jinja2.ext import extract_from_ast

from republish.anonymize.contract import Schema
from republish.anonymize.people.rows import of_rows
from republish.anonymize.promise import EverHad
from republish.anonymize.promise.registry import KINDS, scopes

ROOT = Path(__file__).parents[3]
SAYING = ("Text", "Gap")
"""Calls whose first texts are said in reports."""


def every_text():
    """The texts in the order in which a catalogue has them."""
    return list(dict.fromkeys([*of_the_template(), *of_the_code(), *of_promises()]))


def of_the_template():
    for template in ("audit/report/report.html.j2", "rights/person.html.j2"):
        source = (ROOT / "orchestration" / template).read_text()
        calls = extract_from_ast(jinja2.Environment(autoescape=True).parse(source), ("_",))
        for _, _, said in calls:
            yield from [said] if isinstance(said, str) else [one for one in said if one]


def of_the_code():
    for folder in ("anonymize", "orchestration"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for call in ast.walk(ast.parse(file.read_text())):
                if isinstance(call, ast.Call) and getattr(call.func, "id", None) in SAYING:
                    yield from (one.value for one in call.args if is_text(one))


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def of_promises():
    """What the parts of all promises bring."""
    for scope in scopes().values():
        yield from (scope.name, scope.meaning)
    yield from ("at least", "at most", Schema.ROLE)
    for kind in KINDS:
        yield from (kind.sentence,) if kind.sentence else ()
        yield from (figure.words for figure in kind.figures)
        if kind is not EverHad:  # its figures count people, whatever rows they have
            yield from (of_rows(figure.words) for figure in kind.figures)
        yield from kind.unpromised[1:] if kind.unpromised else ()
        yield from (kind.needs_hosts,) if kind.needs_hosts else ()
        for chart in kind.charts:
            yield from filter(None, (chart.caption, chart.axis, chart.over))
            yield from (curve.words for curve in chart.curves)
