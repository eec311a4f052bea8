"""The data product of republish: contracts, sources, Dagster assets, publication, command line."""
