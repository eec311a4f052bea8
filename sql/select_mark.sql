SELECT
    count(*) AS people,
    min(CAST({column} AS varchar)) AS lowest,
    max(CAST({column} AS varchar)) AS highest
FROM (
{query}
) AS snapshot;
