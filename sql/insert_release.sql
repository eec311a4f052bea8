INSERT OR REPLACE INTO releases
VALUES (
    $product, $series, $release, $n, $status, $principle,
    $parameters, $figures, $audit, $seconds, $inputs, $manifest_sha256
);
