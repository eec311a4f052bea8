"""What people and regulators may ask of a publisher: find, forget, and account for what is published."""
