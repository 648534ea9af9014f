-- One row a request of the sessions that a page draws: the five slowest, and one of median duration. Times are from the
-- first issue of the session; `tool_ms` is the part of the delay after `ready_ms` that tools took.
WITH chosen AS (
    SELECT
        *,
        row_number() OVER (ORDER BY duration_ms DESC, conversation_id) AS place,
        count(*) OVER () AS session_count
    FROM sessions
    WHERE measured AND duration_ms > 0
    QUALIFY place <= 5 OR place = session_count // 2 + 1
)

SELECT
    place,
    turns.turn,
    chosen.session_id,
    ending,
    duration_ms,
    turns.stream,
    tree_turns.parent,
    turns.agent,
    turns.sample_uuid,
    endpoint,
    coalesce(tags::VARCHAR, '{}') AS tags,
    turns.status = 'failed' AS is_failed,
    (own_ready_ns - started_ns) / 1e6 AS own_ready_ms,
    (ready_ns - started_ns) / 1e6 AS ready_ms,
    turns.tool_ms,
    (turns.scheduled_ns - started_ns) / 1e6 AS scheduled_ms,
    (coalesce(turns.sent_ns, turns.issued_ns) - started_ns) / 1e6 AS sent_ms,
    (turns.first_token_ns - started_ns) / 1e6 AS first_token_ms,
    (turns.ended_ns - started_ns) / 1e6 AS ended_ms,
    waited_for,
    turns.input_tokens,
    turns.output_tokens,
    turns.cached_tokens
FROM chosen
JOIN session_turns AS turns USING (conversation_id)
JOIN samples USING (sample_uuid)
LEFT JOIN tree_turns USING (sample_uuid)
ORDER BY place, turns.turn;
