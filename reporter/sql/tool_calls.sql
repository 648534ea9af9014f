-- One row a call of a tool in an episode.
CREATE TABLE tool_calls AS
SELECT * EXCLUDE (conversation, duration_ns), conversation AS conversation_id, duration_ns / 1e6 AS duration_ms
FROM (
    SELECT seq, unnest(from_json(nullif(data::VARCHAR, ''), '{
        "conversation": "VARCHAR",
        "prompt_id": "BIGINT",
        "phase": "VARCHAR",
        "turn": "BIGINT",
        "name": "VARCHAR",
        "started_ns": "BIGINT",
        "duration_ns": "BIGINT",
        "error": "VARCHAR"
    }'))
    FROM stream
)
WHERE conversation IS NOT NULL;
