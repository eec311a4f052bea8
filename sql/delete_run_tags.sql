DELETE FROM run_tags
WHERE run_id IN (SELECT value FROM json_each(:runs));
