EXPLAIN (FORMAT json)
FROM (
{query}
) AS snapshot;
