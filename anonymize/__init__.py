"""The algorithms of republish: polars in, polars out. No Dagster, no files, no database, no clock."""
