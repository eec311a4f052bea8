"""e-equivalence (He, Barman and Naughton, ICDE 2011): nobody learns that fewer than e people share values.

Reads like the paper: `graph` (the bucket graphs, kept from release to release), `min_cut` (their smallest
cuts), `forget` (what the graphs need not keep), `plan` (Algorithms 2 and 3 on counts), `release` (all of it).
`E_EQUIVALENCE` is what the data product needs of it, as one object.
"""

from republish.anonymize.e_equivalence.principle import E_EQUIVALENCE

__all__ = ["E_EQUIVALENCE"]
