"""The four steps of a release, one module each. They know the home and its folders; Dagster calls them."""
