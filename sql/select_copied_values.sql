-- What values the groups have, each numbered in its order; and which part of the tuples of a kind are counterfeits in each
-- allocation: `kind` is -1 where none may be one.
SELECT
    slots.group_id, dense_rank() OVER (ORDER BY slots.value) - 1 AS value, slots.tuples::BIGINT AS tuples,
    coalesce(kinds.kind, -1) AS kind
FROM estimate_slots AS slots
JOIN estimate_groups AS groups USING (release, group_id)
LEFT JOIN (
    SELECT signature, counterfeits, value, row_number() OVER (ORDER BY signature, counterfeits, value) - 1 AS kind
    FROM (SELECT DISTINCT signature, counterfeits, value FROM estimate_forged)
) AS kinds ON kinds.signature = groups.signature AND kinds.counterfeits = groups.size - groups.people
    AND kinds.value = slots.value
ORDER BY slots.group_id, value;
