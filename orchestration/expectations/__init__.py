"""Great Expectations judges evidence: a suite per promise, in `data_contracts/expectations/`.

`verdict` is what everybody else sees, `suites` runs a suite, `judge` is the process it runs in.
"""

from republish.orchestration.expectations.judge import judge, start_judge
from republish.orchestration.expectations.verdict import Verdict

__all__ = ["Verdict", "judge", "start_judge"]
