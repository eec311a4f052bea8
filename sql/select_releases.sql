SELECT release, n, status, principle, parameters, figures, audit, seconds, made_from, manifest_sha256
FROM releases
WHERE product = $product AND series = $series
ORDER BY n;
