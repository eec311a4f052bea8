"""The global guarantee."""
