"""The global guarantee (Wong et al.): whoever knows all groups says with 1/l at most who ever had a value.

`parameters` is what a contract declares, `strategy` how a budget is divided among releases, `ledger` what was
spent of it, `admission` who is placed, `partition` the groups, `release` all of it; `forecast` says for how
many more releases people can be placed. `GLOBAL_GUARANTEE` is all of it, as one object.
"""

from republish.anonymize.global_guarantee.principle import GLOBAL_GUARANTEE

__all__ = ["GLOBAL_GUARANTEE"]
