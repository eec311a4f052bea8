"""Counts of people with error bars, from a published folder alone."""
