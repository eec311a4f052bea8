"""Every pair of features that a contract may combine, on random series, judged by code that shares nothing.

`features` says what a contract writes for each feature, `people` makes the tables, `worlds` releases them,
and `oracle` judges what was published. `python -m benchmarks.pairs` writes the page of the reference.
"""
