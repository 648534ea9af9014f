-- One row a request of the episodes that a page draws, with the columns of `session_lanes`: a simulated user is its own agent
-- stream, and `tool_ms` the time of the tools that were called since the request before.
WITH chosen AS (
    SELECT
        *,
        row_number() OVER (ORDER BY wall_ms DESC, conversation_id) AS place,
        count(*) OVER () AS episode_count
    FROM episodes
    WHERE measured AND wall_ms > 0
    QUALIFY place <= 5 OR place = episode_count // 2 + 1
),

requests_of AS (
    SELECT
        place,
        conversation_id,
        ending,
        wall_ms,
        started_ns,
        role <> 'model' AS is_user,
        role,
        samples.sample_uuid,
        status,
        endpoint,
        tags,
        issued_ns,
        sent_ns,
        first_token_ns,
        samples.ended_ns,
        samples.input_tokens,
        samples.cached_tokens,
        samples.output_tokens,
        row_number() OVER so_far - 1 AS turn,
        lag(samples.ended_ns) OVER so_far AS ready_ns,
        lag(samples.ended_ns) OVER (PARTITION BY conversation_id, is_user ORDER BY issued_ns, sample_uuid) AS own_ready_ns
    FROM chosen JOIN samples USING (conversation_id)
    WHERE samples.ended_ns IS NOT NULL
    WINDOW so_far AS (PARTITION BY conversation_id ORDER BY issued_ns, sample_uuid)
)

SELECT
    place,
    turn,
    conversation_id AS session_id,
    ending,
    wall_ms AS duration_ms,
    is_user::INTEGER AS stream,
    NULL AS parent,
    if(is_user, role, NULL) AS agent,
    sample_uuid,
    endpoint,
    coalesce(tags::VARCHAR, '{}') AS tags,
    status = 'failed' AS is_failed,
    (own_ready_ns - started_ns) / 1e6 AS own_ready_ms,
    (ready_ns - started_ns) / 1e6 AS ready_ms,
    (
        SELECT sum(duration_ms) FROM tool_calls
        WHERE
            tool_calls.conversation_id = requests_of.conversation_id
            AND tool_calls.started_ns BETWEEN ready_ns AND issued_ns
    ) AS tool_ms,
    NULL AS scheduled_ms,
    (coalesce(sent_ns, issued_ns) - started_ns) / 1e6 AS sent_ms,
    (first_token_ns - started_ns) / 1e6 AS first_token_ms,
    (ended_ns - started_ns) / 1e6 AS ended_ms,
    if(turn > 0, turn - 1, NULL) AS waited_for,
    input_tokens,
    output_tokens,
    cached_tokens
FROM requests_of
ORDER BY place, turn;
