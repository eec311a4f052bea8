CREATE TABLE IF NOT EXISTS software (
    history_version INTEGER NOT NULL,
    software_version VARCHAR NOT NULL
);
CREATE TABLE IF NOT EXISTS releases (
    product VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    release DATE NOT NULL,
    n INTEGER NOT NULL,
    status VARCHAR NOT NULL CHECK (status IN ('audited', 'published')),
    principle VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    figures JSON NOT NULL,
    audit JSON NOT NULL,
    seconds JSON NOT NULL,
    made_from JSON NOT NULL,
    manifest_sha256 VARCHAR,
    PRIMARY KEY (product, series, release)
);
CREATE TABLE IF NOT EXISTS buckets (
    product VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    release DATE NOT NULL,
    bucket_id INTEGER NOT NULL,
    signature VARCHAR[] NOT NULL,
    people BIGINT NOT NULL,
    counterfeits BIGINT NOT NULL,
    groups BIGINT NOT NULL,
    PRIMARY KEY (product, series, release, bucket_id)
);
