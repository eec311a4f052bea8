"""Privacy streamliner (Liu and Wang, CODASPY 2012): safe against adversaries who know the algorithm.

Reads like the paper: `candidates` are the algorithms RIA, RDA and GDA, `partition` the groups and better ones
in their family set, `release` one release, `later` what releases after it are made by.
`streamliner` is all of it, as one object, given the principle of later releases.
"""

from republish.anonymize.streamliner.principle import streamliner

__all__ = ["streamliner"]
