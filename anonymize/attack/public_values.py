"""Values that readers know: an adversary who has no table counts no value that only a table has."""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.input import AttackInput
from republish.anonymize.contract.combined import readable


def known_to_readers(seen: AttackInput, values: pl.Series) -> pl.Series:
    """Boolean[V]: the values that are declared, or that a release had so far (`readable`).

    Where groups are not known, it is not remembered what releases had, and every value of a table counts.
    """
    if not seen.is_linked:
        return pl.repeat(True, len(values), eager=True)
    published = seen.knowledge.linked.signatures["values"].explode().drop_nulls()
    return readable(values, published, seen.schema.sensitive)
