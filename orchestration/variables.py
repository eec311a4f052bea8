"""Variables that libraries read when they are imported; imported first of all, so it imports nothing."""

VARIABLES = {
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:15000,muzzy_decay_ms:15000",
    "OPENBLAS_NUM_THREADS": "1",
}
"""What a process of ours has, and what Great Expectations' has from it.

jemalloc, the allocator of polars, keeps memory that it no longer uses for fifteen seconds, by default for
half of one. To ask the system for this memory again took a tenth of a large release. Where memory was kept
for ever, a process that works on one shard after the other took more with each: 3.9 GiB after 16 shards of
500,000 people, for 3.2, in the same processor time.

BLAS has one thread: the minimizer of what an audit learns calls it for short sums, for which several threads
wait in loops, and add up in another order on a machine with more cores.
"""
