SELECT 1
FROM (
{query}
) AS snapshot
LIMIT 1
