"""Values that readers know: an adversary who has no table counts no value that only a table has."""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.input import AttackInput
from republish.anonymize.contract.combined import values_of


def known_to_readers(seen: AttackInput, values: pl.Series) -> pl.Series:
    """Boolean[V]: the values that are declared, or that a release had so far.

    A combination of several columns is known if its values are. Where groups are not known, it is not
    remembered what releases had, and every value of a table counts.
    """
    sensitive = seen.schema.sensitive
    if not seen.is_linked:
        return pl.repeat(True, len(values), eager=True)
    published = seen.knowledge.linked.signatures["values"].explode().drop_nulls()
    known = pl.repeat(True, len(values), eager=True)
    columns = zip(
        sensitive.columns, values_of(values, sensitive), values_of(published, sensitive), strict=True
    )
    for column, its, seen_so_far in columns:
        if column.values is None:
            is_seen = its.cast(pl.String).is_in(seen_so_far.cast(pl.String).implode())
            known &= is_seen | column.may_be_known(its)
    return known
