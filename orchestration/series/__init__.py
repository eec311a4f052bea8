"""A series of releases: its order, its key, its committed candidates, and what of it is already a fact."""
