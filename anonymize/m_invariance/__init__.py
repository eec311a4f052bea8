"""m-invariance (Xiao and Tao, SIGMOD 2007): candidate sets that intersect over releases stay large.

`parameters` is what a contract declares, `release` makes a release of what the room of buckets plans,
`group` divides buckets into QI groups. `M_INVARIANCE` is all of it, as one object.
"""

from republish.anonymize.m_invariance.principle import M_INVARIANCE

__all__ = ["M_INVARIANCE"]
