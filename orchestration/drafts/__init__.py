"""Drafts of contracts: what a table of people looks like, and what a contract of it would say."""
