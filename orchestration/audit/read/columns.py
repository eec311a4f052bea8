"""The way of each column from the true table to the published one, in words."""

from __future__ import annotations

from typing import Any

from republish.anonymize.contract import CategoryAttribute, DateAttribute
from republish.orchestration.audit.read.folders import format_of
from republish.orchestration.audit.read.material import Material

NOT_PUBLISHED = "not published"
MOST_LABELS = 12
"""A domain of more labels is counted, not listed."""


def described_columns(material: Material) -> list[dict[str, str]]:
    """A row for each column: `name`, `role`, `kind`, `domain`, `hierarchy`, `min_width`, `published`."""
    contract = material.contract
    release_format = format_of(material.series[-1].releases[-1], contract, material.foreign)
    published: dict[str, list[str]] = {}
    for columns in release_format.columns(contract).values():
        for column in columns:
            if column.origin is not None:
                published.setdefault(column.origin, []).append(f"{column.name}: {column.description}")
    rows = [_row(contract.identifier, "identifier", published="removed")]
    for ours, attribute in contract.attributes():
        rows.append(
            _row(
                attribute.name,
                contract.ROLE,
                kind=attribute.kind,
                domain=_domain(attribute),
                hierarchy=_hierarchy(attribute),
                min_width=_width(attribute),
                published="; ".join(published.get(ours, [NOT_PUBLISHED])),
            )
        )
    for ours, one in contract.sensitive_columns():
        values, known = one.values, ", ".join(map(str, one.not_sensitive))
        domain = "any value" if values is None else f"{len(values)} declared values"
        if known:
            domain = f"{domain}; may be known: {known}"
        rows.append(
            _row(
                one.name,
                "sensitive",
                kind=one.semantics,
                domain=domain,
                published="; ".join(published.get(ours, [NOT_PUBLISHED])),
            )
        )
    return rows


def _row(name: str, role: str, **parts: str) -> dict[str, str]:
    none = dict.fromkeys(("kind", "domain", "hierarchy", "min_width", "published"), "\u2013")
    return {"name": name, "role": role, **none, **parts}


def _domain(attribute: Any) -> str:
    if isinstance(attribute, CategoryAttribute):
        labels = attribute.labels
        if len(labels) <= MOST_LABELS:
            return ", ".join(labels)
        return f"{len(labels)} labels"
    low, high = map(str, attribute.domain)
    if attribute.discrete and not isinstance(attribute, DateAttribute):
        return f"{low} to {high}, whole numbers"
    return f"{low} to {high}"


def _hierarchy(attribute: Any) -> str:
    if isinstance(attribute, CategoryAttribute) and attribute.hierarchy:
        levels, labels = len(attribute.hierarchy[0]) - 1, len(attribute.hierarchy)
        return f"{levels} levels above {labels} labels"
    return "declared order" if isinstance(attribute, CategoryAttribute) else "order of values"


def _width(attribute: Any) -> str:
    if not attribute.min_width:
        return "none"
    width = attribute.min_width
    if isinstance(attribute, DateAttribute):
        return f"{width} days"
    if isinstance(attribute, CategoryAttribute):
        return f"{width} labels"
    return f"{width} values" if attribute.discrete else f"{width}"
