"""The parts that every principle shares: its object, its candidates and its state."""
