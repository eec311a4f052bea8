SELECT {types}
FROM (
{query}
) AS snapshot;
