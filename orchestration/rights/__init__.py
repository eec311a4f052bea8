"""Answers to people and regulators: find, forget, and account for what is published."""
