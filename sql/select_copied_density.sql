-- How all people are spread over each attribute.
SELECT attribute, start::BIGINT AS start, span::BIGINT AS span, mass::DOUBLE AS mass
FROM estimate_density WHERE span > 0 ORDER BY attribute, start;
