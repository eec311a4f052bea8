"""m-invariance (Xiao and Tao, SIGMOD 2007): candidate sets that intersect over releases stay large.

Reads like the paper: `plan` (division, balancing, assignment on counts), `separate` (changed values),
`assign` (the plan on rows), `split` (QI groups), `release` (all of it).
"""
