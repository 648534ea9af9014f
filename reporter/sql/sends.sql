-- What REQUEST_SENT tells.
CREATE TABLE sends AS
SELECT * REPLACE (sent_high_ns + shift_of(seq) AS sent_high_ns)
FROM (
    SELECT seq, starts_with(data::VARCHAR, '{"encode_error":') AS unencoded, unnest(from_json(nullif(data::VARCHAR, ''), '{
    "reused": "BOOLEAN",
    "connect_ms": "DOUBLE",
    "tls_ms": "DOUBLE",
    "dns_ms": "DOUBLE",
    "retried": "BOOLEAN",
    "unasked": "BIGINT",
    "sent_high_ns": "BIGINT",
    "span_id": "VARCHAR"
}'))
    FROM stream
);
