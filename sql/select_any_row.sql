SELECT 1 AS any_row
FROM (
{query}
) AS snapshot
LIMIT 1
