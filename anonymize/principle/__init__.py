"""What a principle is, and what every principle shares: its promise, candidates, state and checks."""
