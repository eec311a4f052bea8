"""How processes use memory; imported first of all, so it imports nothing."""

KEEPS_MEMORY = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:1000,muzzy_decay_ms:-1"}
"""A variable for jemalloc, the allocator of polars, which reads it when polars is imported.

With it, a process keeps memory that it no longer uses until another process needs it. To ask the system for
this memory again took a tenth of a large release. In lists of processes, the process looks a quarter larger.
"""
