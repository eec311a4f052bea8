"""The report of an audit."""
