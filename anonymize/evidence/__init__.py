"""Evidence that a candidate keeps its promises: what was counted, where and how often.

Computed from the tables as they would be published, the truth and the linkage, by code that shares nothing
with the principles that make them. The tables hold counts, widths and names of columns, nobody's identifier
or value; suites of expectations judge them. `groups` and `signatures` are for any format, `generalized` and
`anatomized` for one.
"""
