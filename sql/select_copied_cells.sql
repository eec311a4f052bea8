-- The cells of min_width, and what the fullness of neighbours says of places in them.
SELECT attribute, cell, width::DOUBLE AS width, start::BIGINT AS start, span::BIGINT AS span, is_rising, nearer, filled, uneven
FROM estimate_cells ORDER BY attribute, cell;
