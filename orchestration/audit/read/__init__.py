"""Reading what is audited: anybody's published folders, and the truth."""
