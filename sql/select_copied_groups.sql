-- The groups of a release that have people, in the order of their numbers.
SELECT group_id, size::BIGINT AS size, people::BIGINT AS people FROM estimate_groups WHERE people > 0 ORDER BY group_id;
