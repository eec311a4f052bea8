INSERT INTO buckets
SELECT $product, $series, $release, bucket_id, signature, people, counterfeits, groups
FROM buckets_in_use;
