INSERT INTO software
SELECT $history_version, $software_version
WHERE NOT EXISTS (SELECT 1 FROM software);
