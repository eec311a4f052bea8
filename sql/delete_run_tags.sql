DELETE FROM run_tags
WHERE run_id IN :runs;
