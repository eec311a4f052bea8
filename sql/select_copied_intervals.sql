-- The intervals of groups on each attribute, where somebody must be at their ends, and how alike the people of a group are.
SELECT
    attribute, ends.group_id, low::BIGINT AS low, above_low::BIGINT AS above, from_high::BIGINT AS upper, high::BIGINT AS high,
    is_free, likeness::DOUBLE AS alike, ends.people::BIGINT AS known
FROM estimate_ends AS ends ORDER BY attribute, group_id;
