DELETE FROM runs
WHERE run_id IN (SELECT value FROM json_each(:runs));
