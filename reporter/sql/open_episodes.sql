-- One row an episode that the log has no end of: what it had done, and what it was waiting for, when the log ends. That
-- is now, for a run in progress. One that a further segment asked again is not open.
CREATE VIEW open_episodes AS
WITH last_moments AS (
    SELECT segment, greatest(max(written_ns), max(at_ns), max(request_ns)) AS last_ns
    FROM clocks
    LEFT JOIN (SELECT segment, max(at_ns) AS at_ns FROM session_events GROUP BY segment) USING (segment)
    LEFT JOIN (
        SELECT segment, greatest(max(issued_ns), max(sent_ns), max(first_token_ns), max(ended_ns)) AS request_ns
        FROM requests
        GROUP BY segment
    ) USING (segment)
    GROUP BY segment
),

begun AS (
    SELECT
        conversation_id,
        any_value(prompt_id) AS prompt_id,
        any_value(phase) AS phase,
        any_value(segment) AS segment,
        count(*) FILTER (role = 'model' AND sent_ns IS NOT NULL) AS turns,
        count(*) FILTER (role = 'user_sim') AS user_turns,
        sum(counted_input) FILTER (role = 'model') AS input_tokens,
        sum(counted_output) FILTER (role = 'model') AS output_tokens,
        min(issued_ns) AS started_ns,
        max(ended_ns) AS last_ended_ns,
        arg_max(sample_uuid, issued_ns) FILTER (status = 'in_flight') AS sample_uuid,
        arg_max(role, issued_ns) FILTER (status = 'in_flight') AS asked_role,
        max(issued_ns) FILTER (status = 'in_flight') AS asked_ns
    FROM counted
    WHERE is_episode AND status <> 'abandoned'
    GROUP BY conversation_id
),

tools_of AS (
    SELECT conversation_id, count(*) AS tool_calls, max(started_ns + round(duration_ms * 1e6)::BIGINT) AS tool_ended_ns
    FROM tool_calls
    GROUP BY conversation_id
)

SELECT
    conversation_id,
    prompt_id,
    phase,
    turns,
    user_turns,
    coalesce(tool_calls, 0) AS tool_calls,
    input_tokens,
    output_tokens,
    started_ns,
    (last_ns - started_ns) / 1e6 AS age_ms,
    -- Between two requests the agent itself is busy, or a tool of it.
    CASE asked_role WHEN 'model' THEN 'model' WHEN 'user_sim' THEN 'user' ELSE 'agent' END AS waits_for,
    (last_ns - coalesce(asked_ns, greatest(last_ended_ns, tool_ended_ns))) / 1e6 AS waited_ms,
    sample_uuid
FROM begun
JOIN last_moments USING (segment)
LEFT JOIN tools_of USING (conversation_id)
WHERE NOT EXISTS (
    SELECT 1 FROM episode_ends
    WHERE episode_ends.conversation_id = begun.conversation_id AND episode_ends.ended_ns >= begun.started_ns
);
