"""Settings of every test run, made before the first import of polars and numba."""

import os

# Nearly all tests have tables of a few rows, where further threads only wait for each other. Commands that
# tests start as processes of their own have several (`tests.hospital.several_threads`), and what
# they publish is compared with what is published here.
os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["NUMBA_NUM_THREADS"] = "1"
