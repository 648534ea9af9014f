-- One row an episode that is over. `model_ms` is the time of requests to the endpoint, `user_ms` of those to the simulated
-- user, `tool_ms` of tools; where some ran at once, their sum can exceed `wall_ms`. Of imported episodes they are unknown.
CREATE VIEW episodes AS
WITH turns_of AS (
    SELECT
        conversation_id,
        count(*) FILTER (role = 'model' AND sent_ns IS NOT NULL) AS turns,
        count(*) FILTER (role = 'user_sim') AS user_turns,
        coalesce(sum((ended_ns - issued_ns) / 1e6) FILTER (role = 'model'), 0) AS model_ms,
        coalesce(sum((ended_ns - issued_ns) / 1e6) FILTER (role = 'user_sim'), 0) AS user_ms,
        sum(counted_input) FILTER (role = 'model') AS input_tokens,
        sum(counted_output) FILTER (role = 'model') AS output_tokens,
        bool_or(status = 'abandoned') AS abandoned
    FROM counted
    WHERE conversation_id IS NOT NULL
    GROUP BY conversation_id
),

tools_of AS (
    SELECT
        conversation_id,
        count(*) AS tool_calls,
        count(error) AS failed_tool_calls,
        sum(duration_ms) AS tool_ms
    FROM tool_calls
    GROUP BY conversation_id
)

SELECT
    conversation_id,
    prompt_id,
    phase,
    phase = 'performance' AND NOT coalesce(abandoned, false) AS measured,
    ending,
    reason,
    reward,
    CASE WHEN is_imported() THEN played_turns ELSE coalesce(turns, 0) END AS turns,
    CASE WHEN NOT is_imported() THEN coalesce(user_turns, 0) END AS user_turns,
    CASE WHEN NOT is_imported() THEN coalesce(tool_calls, 0) END AS tool_calls,
    CASE WHEN NOT is_imported() THEN coalesce(failed_tool_calls, 0) END AS failed_tool_calls,
    (ended_ns - started_ns) / 1e6 AS wall_ms,
    CASE WHEN NOT is_imported() THEN coalesce(model_ms, 0) END AS model_ms,
    CASE WHEN NOT is_imported() THEN coalesce(user_ms, 0) END AS user_ms,
    CASE WHEN NOT is_imported() THEN coalesce(tool_ms, 0) END AS tool_ms,
    input_tokens,
    output_tokens,
    started_ns,
    ended_ns,
    seq AS ended_seq
FROM episode_ends
LEFT JOIN turns_of USING (conversation_id)
LEFT JOIN tools_of USING (conversation_id);
