-- Whether a release has cells of min_width.
SELECT 1 FROM duckdb_tables() WHERE table_name = 'estimate_cells';
