DELETE FROM buckets
WHERE product = $product AND series = $series AND release = $release;
