"""What findings are called in reports, and promises as files state them."""

from republish.anonymize.promise import promise_of

COVERAGE = "coverage"
COUNTS = "counts"
HOSTS = "hosting groups"
SHARE = "share of a value"
ENTRIES = "published entries"
INTERVALS = "one interval per group"
SIGNATURES = "signature invariance"
VALUES = "values of a group"
ASSIGNMENTS = "candidates by assignment"
RISK = "disclosure risk"
CHAIN = "manifest chain"
CLAIMS = "manifest claims"
CANDIDATES = "candidates by quasi-identifiers"
HOST_CANDIDATES = "candidates by hosting group"
CHANGES = "candidates after a change"
SERIES = "candidates over several series"
EQUIVALENCE = "equivalence"
BREACH = "breach probability"
ROW_ORDER = "row order"
NUMBERING = "group numbering"
COUNTERFEITS = "counterfeits hidden"
IDENTIFIERS = "no identifiers"
UNREAD = "no other columns"
METADATA = "file metadata"
ALGORITHM = "knowing the algorithm"
JOIN = "join with earlier releases"


def promise(**stated):
    """The promise that a file states so."""
    return promise_of(stated)
