-- What each check found last, of every release, stays.
DELETE FROM asset_check_executions
WHERE run_id IN :runs
    AND id NOT IN (
        SELECT max(id) FROM asset_check_executions
        WHERE execution_status <> 'PLANNED'
        GROUP BY asset_key, check_name, partition
    );
