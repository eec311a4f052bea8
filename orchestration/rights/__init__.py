"""What a person may ask of a publisher: what is held of them, and what was published."""
