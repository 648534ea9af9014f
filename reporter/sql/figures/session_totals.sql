-- One row: the measured sessions together. Rates of hits are of the requests that have both counts; jobs per hour are
-- those of one user who always has one session, and of all users.
WITH hits AS (
    SELECT
        sum(prefix_tokens) / nullif(sum(block_tokens), 0) AS theoretical_hit_rate,
        sum(cached_tokens) / nullif(sum(if(cached_tokens IS NULL, NULL, input_tokens)), 0) AS measured_hit_rate,
        sum(if(eligible_tokens IS NULL, NULL, cached_tokens))
        / nullif(sum(if(cached_tokens IS NULL, NULL, eligible_tokens)), 0) AS eligible_hit_rate,
        sum(if(recorded_input_tokens IS NULL, NULL, input_tokens))
        / nullif(sum(if(input_tokens IS NULL, NULL, recorded_input_tokens)), 0) AS input_ratio,
        sum(if(recorded_output_tokens IS NULL, NULL, output_tokens))
        / nullif(sum(if(output_tokens IS NULL, NULL, recorded_output_tokens)), 0) AS output_ratio,
        quantile_cont(abs(waited_ms - delay_ms), 0.99) AS delay_error_p99_ms
    FROM session_turns
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
    any_value(hits.input_ratio) AS input_ratio,
    any_value(hits.output_ratio) AS output_ratio,
    any_value(hits.delay_error_p99_ms) AS delay_error_p99_ms
FROM sessions, hits
WHERE measured;
