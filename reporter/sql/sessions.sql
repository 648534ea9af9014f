-- One row a session of several turns. `duration_ms` is from the first issue to the last end, `critical_ms` the part of it in
-- which a request on the critical path was under way: the requests that the last end waited for, one after the other.
CREATE VIEW sessions AS
WITH RECURSIVE ends AS (
    SELECT conversation_id, arg_max(turn, ended_ns) AS turn FROM session_turns WHERE ended_ns IS NOT NULL GROUP BY ALL
),

critical AS (
    SELECT conversation_id, turn FROM ends
    UNION ALL
    SELECT critical.conversation_id, waited_for
    FROM critical JOIN session_turns USING (conversation_id, turn)
    WHERE waited_for IS NOT NULL
),

critical_of AS (
    SELECT conversation_id, count(*) AS critical_turns, sum(ended_ns - issued_ns) / 1e6 AS critical_ms
    FROM critical JOIN session_turns USING (conversation_id, turn)
    GROUP BY ALL
),

disorder AS (
    SELECT conversation_id, count(*) FILTER (issued_ns < before_ns) AS overtaken_turns
    FROM (
        SELECT
            conversation_id,
            issued_ns,
            max(issued_ns) OVER (
                PARTITION BY conversation_id ORDER BY recorded_start_ms, turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_ns
        FROM session_turns
        WHERE recorded_start_ms IS NOT NULL
    )
    GROUP BY ALL
),

turns_of AS (
    SELECT
        conversation_id,
        any_value(session_id) AS session_id,
        any_value(prompt_id) AS prompt_id,
        any_value(phase) AS phase,
        bool_and(measured) AS measured,
        count(*) AS asked,
        count(*) FILTER (status = 'completed') AS completed,
        count(*) FILTER (status = 'failed') AS failed,
        count(DISTINCT stream) AS streams,
        max(depth) AS depth,
        min(issued_ns) AS started_ns,
        if(bool_and(ended_ns IS NOT NULL), max(ended_ns), NULL) AS ended_ns,
        any_value(ttft_ms) FILTER (turn = 0) AS first_ttft_ms,
        avg(ttft_ms) FILTER (turn > 0) AS later_ttft_ms,
        arg_max(first_token_ns, issued_ns) FILTER (stream = 0) AS last_first_token_ns,
        sum(join_wait_ms) AS join_wait_ms,
        sum(tool_ms) AS tool_ms,
        sum(delay_ms) AS delay_ms,
        max(abs(waited_ms - delay_ms)) AS delay_error_ms,
        sum(input_tokens) AS input_tokens,
        sum(output_tokens) AS output_tokens,
        sum(cached_tokens) AS cached_tokens,
        sum(if(cached_tokens IS NULL, NULL, input_tokens)) AS cached_of_tokens,
        sum(eligible_tokens) AS eligible_tokens,
        sum(prefix_tokens) AS prefix_tokens,
        sum(block_tokens) AS block_tokens,
        sum(if(input_tokens IS NULL, NULL, recorded_input_tokens)) AS recorded_input_tokens,
        sum(if(output_tokens IS NULL, NULL, recorded_output_tokens)) AS recorded_output_tokens,
        max(recorded_end_ms) - min(recorded_start_ms) AS recorded_ms
    FROM session_turns
    GROUP BY conversation_id
),

planned AS (
    SELECT conversation_id, any_value(turns) AS turns FROM requests WHERE turns IS NOT NULL GROUP BY ALL
)

SELECT
    turns_of.conversation_id,
    turns_of.session_id,
    prompt_id,
    phase,
    measured,
    CASE
        WHEN tree_ends.ending IS NOT NULL AND turns_of.ended_ns IS NOT NULL THEN tree_ends.ending
        WHEN tree_ends.ending IS NULL AND failed > 0 THEN 'failed'
        WHEN tree_ends.ending IS NULL AND completed = coalesce(turns, completed) THEN 'completed'
        ELSE 'cut'
    END AS ending,
    coalesce(turns, asked) AS turns,
    asked,
    completed,
    failed,
    coalesce(turns, asked) - asked AS never_asked,
    streams,
    depth,
    coalesce(begun_ns, started_ns) AS begun_ns,
    started_ns,
    ended_ns,
    begun_at_ms,
    if(begun_at_ms IS NULL, (ended_ns - started_ns) / 1e6, NULL) AS duration_ms,
    first_ttft_ms,
    later_ttft_ms,
    if(begun_at_ms IS NULL, (last_first_token_ns - started_ns) / 1e6, NULL) AS ttfat_ms,
    join_wait_ms,
    critical_turns,
    critical_ms,
    tool_ms,
    delay_ms,
    delay_error_ms,
    overtaken_turns,
    input_tokens,
    output_tokens,
    cached_tokens,
    cached_of_tokens,
    eligible_tokens,
    prefix_tokens,
    block_tokens,
    recorded_input_tokens,
    recorded_output_tokens,
    recorded_ms
FROM turns_of
LEFT JOIN planned USING (conversation_id)
LEFT JOIN critical_of USING (conversation_id)
LEFT JOIN disorder USING (conversation_id)
LEFT JOIN tree_ends USING (conversation_id);
