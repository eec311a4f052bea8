"""Every benchmark, one after the other: `python -m benchmarks [--write] [--quick]`."""

import sys

from benchmarks.tables import benchmarks, main

for module in benchmarks().values():
    main(module.tables, sys.argv[1:])
