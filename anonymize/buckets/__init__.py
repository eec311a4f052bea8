"""The code that the principles of buckets share: people are put into buckets of one signature, on counts.

`release` has the steps of a release. `divide` says who keeps which signature, `plan` how many people and
counterfeits each bucket receives (`counts` is what it reads and writes, `separate` its part for changed
values), `assign` executes a plan on rows, `memory` is what is remembered, `tables` and `figures` what is said
of the buckets in use.
"""
