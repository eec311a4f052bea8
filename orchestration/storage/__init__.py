"""The publisher's folder: key, locks, files that appear whole, manifests, and the history in DuckDB."""
