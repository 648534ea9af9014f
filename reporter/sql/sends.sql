-- What REQUEST_SENT tells.
CREATE TABLE sends AS SELECT seq, data::VARCHAR AS data FROM stream;

CREATE OR REPLACE MACRO sending_payload(data) AS from_json(nullif(data, ''), '{
    "reused": "BOOLEAN",
    "connect_ms": "DOUBLE",
    "tls_ms": "DOUBLE",
    "dns_ms": "DOUBLE",
    "retried": "BOOLEAN",
    "unasked": "BIGINT",
    "sent_high_ns": "BIGINT",
    "span_id": "VARCHAR"
}');
