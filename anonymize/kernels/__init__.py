"""The few numba loops, each tested against plain Python."""
