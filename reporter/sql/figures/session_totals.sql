-- One row: the measured sessions together. Rates of hits are of the requests that have both counts; jobs per hour are
-- those of one user who always has one session, and of all users.
WITH hits AS (
    SELECT
        sum(prefix_tokens) / nullif(sum(block_tokens), 0) AS theoretical_hit_rate,
        sum(cached_tokens) / nullif(sum(if(cached_tokens IS NULL, NULL, input_tokens)), 0) AS measured_hit_rate,
        sum(if(eligible_tokens IS NULL, NULL, cached_tokens))
        / nullif(sum(if(cached_tokens IS NULL, NULL, eligible_tokens)), 0) AS eligible_hit_rate,
        sum(least(cached_tokens, reusable_tokens)) FILTER (is_long)
        / nullif(sum(if(cached_tokens IS NULL, NULL, reusable_tokens)) FILTER (is_long), 0) AS reused_rate,
        count(*) FILTER (is_long AND cached_tokens IS NOT NULL)::BIGINT AS reusing_turns,
        count(*) FILTER (is_long AND cached_tokens < reusable_tokens / 2)::BIGINT AS lost_turns
    FROM (SELECT *, stream_turn > 1 AND reusable_tokens >= 1024 AS is_long FROM session_turns)
    WHERE measured AND status = 'completed'
),

-- How far into the requested duration there were answers, as AgentX counts them.
covered AS (
    SELECT
        (max(first_token_ns) - any_value(started_ns)) / any_value(duration_ns) AS ttft_coverage,
        (max(ended_ns) FILTER (output_tokens > 1) - any_value(started_ns)) / any_value(duration_ns) AS itl_coverage
    FROM session_turns, (
        SELECT started_ns, duration_s * 1e9 AS duration_ns
        FROM phases
        WHERE phase = 'performance'
        ORDER BY segment DESC
        LIMIT 1
    )
    WHERE measured AND status = 'completed'
)

SELECT
    count(*)::BIGINT AS count,
    coalesce(sum(asked), 0)::BIGINT AS asked,
    coalesce(sum(never_asked), 0)::BIGINT AS never_asked,
    sum(overtaken_turns)::BIGINT AS overtaken_turns,
    3600e3 / avg(duration_ms) FILTER (ending = 'completed') AS jobs_per_hour_per_user,
    3600e9 * count(*) FILTER (ending = 'completed') / nullif(max(ended_ns) - min(started_ns), 0) AS jobs_per_hour,
    any_value(hits.theoretical_hit_rate) AS theoretical_hit_rate,
    any_value(hits.measured_hit_rate) AS measured_hit_rate,
    any_value(hits.eligible_hit_rate) AS eligible_hit_rate,
    any_value(hits.reused_rate) AS reused_rate,
    any_value(hits.reusing_turns) AS reusing_turns,
    any_value(hits.lost_turns) AS lost_turns,
    least(any_value(ttft_coverage), 1) AS ttft_coverage,
    least(any_value(itl_coverage), 1) AS itl_coverage
FROM sessions, hits, covered
WHERE measured;
