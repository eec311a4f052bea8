SELECT
    run_id,
    pipeline_name AS job,
    max(value) FILTER (WHERE key = 'republish/series') AS series,
    max(value) FILTER (WHERE key IN ('dagster/partition', 'dagster/asset_partition_range_end')) AS release
FROM runs
JOIN run_tags USING (run_id)
WHERE status IN ('SUCCESS', 'FAILURE', 'CANCELED')
GROUP BY run_id, pipeline_name;
