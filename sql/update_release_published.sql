UPDATE releases
SET status = 'published', manifest_sha256 = $manifest_sha256
WHERE product = $product AND series = $series AND release = $release;
