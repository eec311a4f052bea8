SELECT count(*) AS people
FROM (
{query}
) AS snapshot;
