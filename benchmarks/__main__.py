"""Every benchmark, one after the other, and the processor seconds that each took.

With --quick all of them together take less than two minutes; without it, some take many minutes each.
"""

import argparse
import sys
import time

from benchmarks.tables import benchmarks, main

parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
parser.add_argument("--write", action="store_true", help="write the pages in docs/measured")
parser.add_argument("--quick", action="store_true", help="only show that they run")
parser.parse_args()
for module in benchmarks().values():
    began = time.process_time()
    main(module.tables, sys.argv[1:])
    print(f"{module.__name__}: {time.process_time() - began:.0f} s of processor time", file=sys.stderr)
