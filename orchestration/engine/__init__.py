"""Where the shards of a release are worked on: in this process, in several of this machine, or by Spark.

An engine maps a function over jobs and returns what it returned, in the order of the jobs. No byte of a
release depends on it.
"""

from republish.orchestration.engine.engine import Engine, the_engine

__all__ = ["Engine", "the_engine"]
