"""What a principle promises, as data."""
