DELETE FROM asset_event_tags
WHERE event_id NOT IN (SELECT id FROM event_logs);
