"""The accounts that kernels of the global guarantee read: what each person admits of their next group."""

from typing import NamedTuple

from republish.anonymize.arrays import Floats, Ints


class Accounts(NamedTuple):
    """The ledger as the kernels read it: what the people of T(n) admit of their next group."""

    first: Ints
    """int64[N]: the links of person i that admit less than no link does are `first[i] : last[i]`."""
    last: Ints
    """int64[N]"""
    link_value: Ints
    """int32[L]: the value of each link, ascending for each person."""
    link_share: Floats
    """float64[L]: the largest share that the value may have in the person's next group."""
    largest: Floats
    """float64[N]: the largest share that any other value may have."""
    account: Ints
    """int64[N]: the person's row in the ledger, -1 for people who are new."""
