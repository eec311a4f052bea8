"""Which values go with which quasi-identifiers, learned from groups; for attacks and for researchers."""
