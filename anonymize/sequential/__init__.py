"""Sequential releases: views with different columns of the same people, which can't be joined back.

`parameters` says what is required, `taxonomy` and `forest` what generalizes, `matching` which records may be
one person's, `partitions` and `linked` what the join links, `specialize` how the view is found, `release`
what is published.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006.
"""

from republish.anonymize.sequential.principle import SEQUENTIAL

__all__ = ["SEQUENTIAL"]
