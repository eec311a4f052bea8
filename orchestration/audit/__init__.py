"""An independent audit of published folders: reading them, attacking them, reporting what was found."""
