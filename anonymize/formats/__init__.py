"""Release formats: from what a principle decides to published tables."""
