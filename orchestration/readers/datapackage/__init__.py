"""All that it takes to read a published release: a Data Package, a README, and a date in every row."""
