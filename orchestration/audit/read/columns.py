"""The way of each column from the true table to the published one, in words."""

from __future__ import annotations

from typing import Any

from anonymize.contract import CategoryAttribute, DateAttribute
from orchestration.audit.read.folders import format_of
from orchestration.audit.run import Material

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
                published="; ".join(published.get(ours, ["not published"])),
            )
        )
    if contract.sensitive is not None:
        values, known = contract.sensitive.values, ", ".join(map(str, contract.sensitive.not_sensitive))
        known = known and f"; may be known: {known}"
        rows.append(
            _row(
                contract.sensitive.name,
                "sensitive",
                kind=contract.sensitive.semantics,
                domain=("any value" if values is None else f"{len(values)} declared values") + known,
                published="; ".join(published.get("value", ["not published"])),
            )
        )
    return rows


def _row(name: str, role: str, **parts: str) -> dict[str, str]:
    none = dict.fromkeys(("kind", "domain", "hierarchy", "min_width", "published"), "\u2013")
    return {"name": name, "role": role, **none, **parts}


def _domain(attribute: Any) -> str:
    if isinstance(attribute, CategoryAttribute):
        labels = attribute.labels
        return ", ".join(labels) if len(labels) <= MOST_LABELS else f"{len(labels)} labels"
    low, high = attribute.domain
    is_whole = attribute.discrete and not isinstance(attribute, DateAttribute)
    return f"{low} to {high}{', whole numbers' if is_whole else ''}"


def _hierarchy(attribute: Any) -> str:
    if isinstance(attribute, CategoryAttribute) and attribute.hierarchy:
        return f"{len(attribute.hierarchy[0]) - 1} levels above {len(attribute.hierarchy)} labels"
    return "declared order" if isinstance(attribute, CategoryAttribute) else "order of values"


def _width(attribute: Any) -> str:
    if not attribute.min_width:
        return "none"
    if isinstance(attribute, DateAttribute):
        return f"{attribute.min_width} days"
    unit = "labels" if isinstance(attribute, CategoryAttribute) else "values" if attribute.discrete else ""
    return f"{attribute.min_width} {unit}".strip()
