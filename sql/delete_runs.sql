DELETE FROM runs
WHERE run_id IN :runs;
