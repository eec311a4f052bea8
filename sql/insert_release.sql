INSERT OR REPLACE INTO releases
VALUES (
    $product, $series, $release, $n, $status, $principle,
    $parameters, $figures, $audit, $seconds, $made_from, $manifest_sha256
);
