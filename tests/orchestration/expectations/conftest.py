"""Great Expectations imports a PySpark that is installed, and one without gRPC ends the process."""

import sys

sys.modules.setdefault("pyspark", None)
