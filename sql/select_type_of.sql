max(
    CASE typeof({column})
        WHEN 'blob' THEN 4 WHEN 'text' THEN 3 WHEN 'real' THEN 2 WHEN 'integer' THEN 1 ELSE 0
    END
)
