"""What most contracts of tests have in common; nothing in it bears on what is published."""

CLINIC = {
    "product": "clinic",
    "series": "v1",
    "source": {"path": "{release}.parquet"},
    "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
    "identifier": "person",
}
