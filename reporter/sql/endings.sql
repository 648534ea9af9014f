-- What COMPLETE, ERROR and CANCELLED tell.
CREATE TABLE endings AS
SELECT * EXCLUDE (by_ns) REPLACE (
    first_byte_ns + by_ns AS first_byte_ns,
    first_byte_low_ns + by_ns AS first_byte_low_ns,
    first_token_ns + by_ns AS first_token_ns,
    first_token_low_ns + by_ns AS first_token_low_ns,
    first_output_ns + by_ns AS first_output_ns,
    first_output_low_ns + by_ns AS first_output_low_ns,
    first_visible_ns + by_ns AS first_visible_ns,
    first_visible_low_ns + by_ns AS first_visible_low_ns,
    last_token_ns + by_ns AS last_token_ns,
    last_token_low_ns + by_ns AS last_token_low_ns
)
FROM (
    SELECT
        seq,
        code,
        chunk_gaps_us,
        shift_of(seq) AS by_ns,
        starts_with(data::VARCHAR, '{"encode_error":') AS unencoded,
        unnest(from_json(nullif(data::VARCHAR, ''), '{
    "error": "VARCHAR",
    "message": "VARCHAR",
    "reason": "VARCHAR",
    "status": "INTEGER",
    "first_byte_ns": "BIGINT",
    "first_token_ns": "BIGINT",
    "first_output_ns": "BIGINT",
    "first_visible_ns": "BIGINT",
    "last_token_ns": "BIGINT",
    "first_byte_low_ns": "BIGINT",
    "first_token_low_ns": "BIGINT",
    "first_output_low_ns": "BIGINT",
    "first_visible_low_ns": "BIGINT",
    "last_token_low_ns": "BIGINT",
    "late_chunks": "BIGINT[]",
    "first_chunk": "JSON",
    "chunks": "BIGINT",
    "silent_chunks": "BIGINT",
    "silent_tokens": "BOOLEAN",
    "reads": "BIGINT",
    "coalesced": "BIGINT",
    "bytes": "BIGINT",
    "finish_reason": "VARCHAR",
    "unended": "VARCHAR",
    "input_tokens": "BIGINT",
    "output_tokens": "BIGINT",
    "reasoning_tokens": "BIGINT",
    "cached_tokens": "BIGINT",
    "stream": "BOOLEAN"
}'))
    FROM stream
);
