SELECT release::VARCHAR, manifest_sha256
FROM releases
WHERE product = $product AND series = $series AND status = 'published'
ORDER BY n;
