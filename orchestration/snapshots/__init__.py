"""Snapshots: reading them from files and databases, and whether they are what their contract promises."""
