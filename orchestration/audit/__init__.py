"""An independent audit of published folders: reading them, attacking them, reporting what was found."""

SECONDS = 60.0
"""Time for the equivalence attack on each series, unless told otherwise."""
