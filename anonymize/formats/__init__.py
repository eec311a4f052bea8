"""Release formats: from groups to published tables, and back.

`generalization` publishes an interval for each quasi-identifier of a group, `anatomy` exact quasi-identifiers
and values in two tables, `taxonomy_cuts` a view under labels of its hierarchies. A principle names its
format; a manifest states it.
"""

from republish.anonymize.formats.anatomy import ANATOMY
from republish.anonymize.formats.elsewhere import CLASS, ELSEWHERE, PIECES
from republish.anonymize.formats.format import Format, PublishedColumn
from republish.anonymize.formats.generalization import GENERALIZATION
from republish.anonymize.formats.published import Published
from republish.anonymize.formats.taxonomy_cuts import TAXONOMY_CUTS

FORMATS = {one.name: one for one in (GENERALIZATION, ANATOMY, TAXONOMY_CUTS)}
"""Every format by its name."""

__all__ = [
    "ANATOMY",
    "CLASS",
    "ELSEWHERE",
    "FORMATS",
    "GENERALIZATION",
    "PIECES",
    "TAXONOMY_CUTS",
    "Format",
    "Published",
    "PublishedColumn",
]
