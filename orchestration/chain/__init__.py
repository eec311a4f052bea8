"""The steps of a release. They know the home and its folders; Dagster calls them."""
