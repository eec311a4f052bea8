"""Variables that libraries read when they are imported; imported first of all, so it imports nothing."""

VARIABLES = {
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",
    "OMP_WAIT_POLICY": "passive",
    "OPENBLAS_NUM_THREADS": "1",
}
"""What a process of ours has, and what Great Expectations' has from it.

jemalloc, the allocator of polars, keeps memory that it no longer uses. To ask the system for this memory
again took a tenth of a large release.

The threads of numba's parallel kernels sleep until there is work. Otherwise they wait in a loop, and on a
busy machine that took more processor time, up to 0.7 s of a release, than the kernels.

BLAS has one thread: the minimizer of what an audit learns calls it for short sums, for which several threads
wait in loops, and add up in another order on a machine with more cores.
"""
