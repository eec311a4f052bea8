"""Every SQL statement of republish, one per file, named by verb."""
