-- The last materialization of every asset and release stays, and what each check found last of it.
DELETE FROM event_logs
WHERE run_id IN :runs
    AND id NOT IN (
        SELECT max(id) FROM event_logs
        WHERE dagster_event_type IN ('ASSET_MATERIALIZATION', 'ASSET_OBSERVATION')
        GROUP BY asset_key, partition, dagster_event_type
    )
    AND id NOT IN (
        SELECT evaluation_event_storage_id FROM asset_check_executions
        WHERE evaluation_event_storage_id IS NOT NULL
    );
