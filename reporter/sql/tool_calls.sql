-- One row a call of a tool in an episode.
CREATE TABLE tool_calls AS
SELECT
    seq,
    conversation AS conversation_id,
    prompt_id,
    phase,
    turn,
    name,
    started_ns + shift_of(seq) AS started_ns,
    duration_ns / 1e6 AS duration_ms,
    error
FROM (
    SELECT seq, unnest(from_json(nullif(data::VARCHAR, ''), columns_of(ToolCalled)))
    FROM stream
)
WHERE conversation IS NOT NULL;
