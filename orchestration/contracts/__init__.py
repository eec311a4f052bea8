"""Contracts as files: reading their YAML, and which of them a home knows."""
