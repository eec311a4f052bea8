"""Measurements, each of which prints tables: `python -m benchmarks` makes all of them, `make bench` too.

`speed` has what releases and audits cost, `papers` the experiments of the papers, `adversaries` attacks on
what no principle promises, `measures` what releases are worth. `tables` says what a benchmark is.
"""
