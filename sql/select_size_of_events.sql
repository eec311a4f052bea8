-- Characters of all that runs noted.
SELECT coalesce(sum(length(event)), 0) FROM event_logs
WHERE run_id IN :runs;
