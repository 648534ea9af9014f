-- What LOADGEN_ISSUE_CALLED tells.
CREATE TABLE issues AS
SELECT * REPLACE (scheduled_ns + shift_of(seq) AS scheduled_ns, free_ns + shift_of(seq) AS free_ns)
FROM (
    SELECT seq, starts_with(data::VARCHAR, '{"encode_error":') AS unencoded, unnest(from_json(nullif(data::VARCHAR, ''), '{
    "scheduled_ns": "BIGINT",
    "free_ns": "BIGINT",
    "phase": "VARCHAR",
    "prompt_id": "BIGINT",
    "conversation": "VARCHAR",
    "turn": "BIGINT",
    "turns": "BIGINT",
    "episode": "BOOLEAN",
    "role": "VARCHAR",
    "endpoint": "BIGINT",
    "max_tokens": "BIGINT",
    "tags": "JSON",
    "trace_id": "VARCHAR"
}'))
    FROM stream
);
