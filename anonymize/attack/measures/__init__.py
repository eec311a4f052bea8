"""Figures of an audit that no release promises: guesses of values, of who is there, and by correlations."""
