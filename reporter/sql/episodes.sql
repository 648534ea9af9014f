-- One row an episode that is over. `setup_ms`, `model_ms`, `user_ms`, `tool_ms`, `own_ms` and `finish_ms` add up to
-- `duration_ms`: a moment at which requests and tools are under way at once is the model's, else the user's. Of imported
-- episodes they are unknown.
CREATE VIEW episodes AS
WITH turns_of AS (
    SELECT
        conversation_id,
        count(*) FILTER (role = 'model' AND sent_ns IS NOT NULL) AS turns,
        count(*) FILTER (role = 'user_sim') AS user_turns,
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
        count(error) AS failed_tool_calls
    FROM tool_calls
    GROUP BY conversation_id
),

waits AS (
    SELECT conversation_id, role AS kind, issued_ns AS from_ns, ended_ns AS until_ns
    FROM counted
    WHERE ended_ns IS NOT NULL
    UNION ALL
    SELECT conversation_id, 'tool', started_ns, started_ns + round(duration_ms * 1e6)::BIGINT FROM tool_calls
),

moments AS (
    SELECT conversation_id, kind, 1 AS step, greatest(from_ns, started_ns) AS at_ns, ended_ns
    FROM waits JOIN episode_ends USING (conversation_id)
    UNION ALL
    SELECT conversation_id, kind, -1, least(greatest(until_ns, from_ns, started_ns), ended_ns), ended_ns
    FROM waits JOIN episode_ends USING (conversation_id)
),

spans AS (
    SELECT
        conversation_id,
        least(lead(at_ns) OVER moment, ended_ns) - least(at_ns, ended_ns) AS ns,
        sum(step) FILTER (kind = 'model') OVER moment AS models,
        sum(step) FILTER (kind = 'user_sim') OVER moment AS users,
        sum(step) FILTER (kind = 'tool') OVER moment AS tools
    FROM moments
    WINDOW moment AS (PARTITION BY conversation_id ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
),

times_of AS (
    SELECT
        conversation_id,
        coalesce(sum(ns) FILTER (models > 0), 0) / 1e6 AS model_ms,
        coalesce(sum(ns) FILTER (coalesce(models, 0) = 0 AND users > 0), 0) / 1e6 AS user_ms,
        coalesce(sum(ns) FILTER (coalesce(models, 0) = 0 AND coalesce(users, 0) = 0 AND tools > 0), 0) / 1e6 AS tool_ms
    FROM spans
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
    (begun_ns - scheduled_ns) / 1e6 AS waited_ms,
    (started_ns - begun_ns) / 1e6 AS setup_ms,
    CASE WHEN NOT is_imported() THEN coalesce(model_ms, 0) END AS model_ms,
    CASE WHEN NOT is_imported() THEN coalesce(user_ms, 0) END AS user_ms,
    CASE WHEN NOT is_imported() THEN coalesce(tool_ms, 0) END AS tool_ms,
    CASE
        WHEN NOT is_imported()
            THEN wall_ms - coalesce(model_ms, 0) - coalesce(user_ms, 0) - coalesce(tool_ms, 0)
    END AS own_ms,
    CASE WHEN NOT is_imported() THEN (finished_ns - ended_ns) / 1e6 END AS finish_ms,
    CASE WHEN NOT is_imported() THEN (finished_ns - coalesce(begun_ns, started_ns)) / 1e6 END AS duration_ms,
    input_tokens,
    output_tokens,
    started_ns,
    ended_ns,
    seq AS ended_seq
FROM episode_ends
LEFT JOIN turns_of USING (conversation_id)
LEFT JOIN tools_of USING (conversation_id)
LEFT JOIN times_of USING (conversation_id);
