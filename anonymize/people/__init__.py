"""People in a table: codes, values, pseudonyms, random order and changes."""
