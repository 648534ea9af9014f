-- One row: what the server counted from the first reading of its page to the last one, over all pages and segments, and
-- what the client measured of the requests in that time. NULL where the page does not have it, or a counter went back.
WITH spans AS (
    SELECT
        max(at_ns) - min(at_ns) AS span_ns,
        grown(arg_max(completed_requests_total, at_ns), arg_min(completed_requests_total, at_ns)) AS completed,
        grown(arg_max(prompt_tokens_total, at_ns), arg_min(prompt_tokens_total, at_ns)) AS prompt_tokens,
        grown(arg_max(output_tokens_total, at_ns), arg_min(output_tokens_total, at_ns)) AS output_tokens,
        grown(arg_max(preemptions_total, at_ns), arg_min(preemptions_total, at_ns)) AS preemptions,
        grown(arg_max(prefix_queried_tokens_total, at_ns), arg_min(prefix_queried_tokens_total, at_ns)) AS queried,
        grown(arg_max(prefix_hit_tokens_total, at_ns), arg_min(prefix_hit_tokens_total, at_ns)) AS hits,
        grown(arg_max(ttft_sum_s, at_ns), arg_min(ttft_sum_s, at_ns)) AS ttft_sum_s,
        grown(arg_max(ttft_requests_total, at_ns), arg_min(ttft_requests_total, at_ns)) AS ttft_requests,
        grown(arg_max(itl_sum_s, at_ns), arg_min(itl_sum_s, at_ns)) AS itl_sum_s,
        grown(arg_max(itl_gaps_total, at_ns), arg_min(itl_gaps_total, at_ns)) AS itl_gaps,
        grown(arg_max(tpot_sum_s, at_ns), arg_min(tpot_sum_s, at_ns)) AS tpot_sum_s,
        grown(arg_max(tpot_requests_total, at_ns), arg_min(tpot_requests_total, at_ns)) AS tpot_requests,
        grown(arg_max(queue_sum_s, at_ns), arg_min(queue_sum_s, at_ns)) AS queue_sum_s,
        grown(arg_max(queue_requests_total, at_ns), arg_min(queue_requests_total, at_ns)) AS queue_requests,
        grown(arg_max(latency_sum_s, at_ns), arg_min(latency_sum_s, at_ns)) AS latency_sum_s,
        grown(arg_max(latency_requests_total, at_ns), arg_min(latency_requests_total, at_ns)) AS latency_requests
    FROM server_metrics
    GROUP BY segment, page
),

counted_by_server AS (
    SELECT
        sum(completed) AS server_completed,
        sum(prompt_tokens) AS server_prompt_tokens,
        sum(output_tokens) AS server_output_tokens,
        sum(preemptions) AS preemptions,
        100 * sum(hits) / nullif(sum(queried), 0) AS prefix_hit_pct,
        sum(hits) AS hit_tokens,
        sum(queried) AS queried_tokens,
        1e3 * sum(ttft_sum_s) / nullif(sum(ttft_requests), 0) AS server_ttft_ms,
        1e3 * sum(itl_sum_s) / nullif(sum(itl_gaps), 0) AS server_itl_ms,
        sum(itl_gaps) AS server_itl_gaps,
        1e3 * sum(tpot_sum_s) / nullif(sum(tpot_requests), 0) AS server_tpot_ms,
        sum(tpot_requests) AS server_tpot_requests,
        1e3 * sum(queue_sum_s) / nullif(sum(queue_requests), 0) AS server_queue_ms,
        1e3 * sum(latency_sum_s) / nullif(sum(latency_requests), 0) AS server_latency_ms
    FROM spans
),

-- The prompt tokens of the warm-up by usage; NULL where a request of the warm-up has none.
warm_up AS (
    SELECT
        if(bool_and(cached_tokens IS NOT NULL), sum(cached_tokens), if(count(*) = 0, 0, NULL)) AS cached,
        if(bool_and(input_tokens IS NOT NULL), sum(input_tokens), if(count(*) = 0, 0, NULL)) AS inputs
    FROM counted
    WHERE phase = 'warmup'
),

-- Before and after the run the server is idle.
gauges AS (
    SELECT
        avg(running_requests) FILTER (moment IS NULL) AS running_mean,
        max(running_requests) FILTER (moment IS NULL) AS running_max,
        avg(waiting_requests) FILTER (moment IS NULL) AS waiting_mean,
        max(waiting_requests) FILTER (moment IS NULL) AS waiting_max,
        avg(running_requests + coalesce(waiting_requests, 0)) FILTER (moment IS NULL) AS in_server_mean,
        max(kv_cache_usage_pct) FILTER (moment IS NULL) AS kv_cache_usage_max_pct,
        count(*) AS readings
    FROM server_metrics
),

measured_by_client AS (
    SELECT
        count(*) FILTER (status = 'completed') AS client_completed,
        count(*) FILTER (status <> 'completed') AS client_others,
        sum(counted_input) FILTER (status = 'completed') AS client_prompt_tokens,
        sum(counted_output) FILTER (status = 'completed') AS client_output_tokens,
        count(*) FILTER (status = 'completed' AND counted_input IS NULL) AS without_prompt_tokens,
        count(*) FILTER (status = 'completed' AND counted_output IS NULL) AS without_output_tokens,
        avg(first_token_ns - sent_ns) FILTER (status = 'completed') / 1e6 AS client_ttft_ms,
        avg(first_token_low_ns - sent_ns) FILTER (status = 'completed') / 1e6 AS client_ttft_low_ms,
        quantile_disc(first_token_ns - sent_ns, 0.5) FILTER (status = 'completed') / 1e6 AS client_ttft_p50_ms,
        quantile_disc(first_token_low_ns - sent_ns, 0.5) FILTER (status = 'completed') / 1e6 AS client_ttft_p50_low_ms,
        quantile_disc(first_token_ns - sent_ns, 0.99) FILTER (status = 'completed') / 1e6 AS client_ttft_p99_ms,
        quantile_disc(first_token_low_ns - sent_ns, 0.99) FILTER (status = 'completed') / 1e6 AS client_ttft_p99_low_ms,
        sum(last_token_ns - first_token_ns) FILTER (has_gaps) / sum(chunks - 1) FILTER (has_gaps) / 1e6 AS client_itl_ms,
        sum(since(first_token_ns, last_token_low_ns)) FILTER (has_gaps) / sum(chunks - 1) FILTER (has_gaps)
            AS client_itl_low_ms,
        sum(since(first_token_low_ns, last_token_ns)) FILTER (has_gaps) / sum(chunks - 1) FILTER (has_gaps)
            AS client_itl_high_ms,
        sum(chunks - 1) FILTER (has_gaps) AS client_itl_gaps,
        avg((since(first_token_ns, last_token_ns) + held_ms) / counted_seen) FILTER (has_pace) AS client_tpot_ms,
        avg((since(first_token_ns, last_token_low_ns) + held_ms) / counted_seen) FILTER (has_pace) AS client_tpot_low_ms,
        avg((since(first_token_low_ns, last_token_ns) + held_ms) / counted_seen) FILTER (has_pace) AS client_tpot_high_ms,
        count(*) FILTER (has_pace) AS client_tpot_requests,
        avg(ended_ns - sent_ns) FILTER (status = 'completed') / 1e6 AS client_latency_ms,
        avg(complete_low(ended_ns, last_token_ns, last_token_low_ns) - sent_ns) FILTER (status = 'completed') / 1e6
            AS client_latency_low_ms
    FROM (
        SELECT
            *,
            status = 'completed' AND chunks > 1 AS has_gaps,
            has_gaps AND all_counted() AND counted_seen > 0 AS has_pace,
            coalesce(beyond_ms, 0) AS held_ms
        FROM counted
    )
),

in_flight AS (
    SELECT sum(change) OVER (ORDER BY at_ns, change) AS requests
    FROM (
        SELECT sent_ns AS at_ns, 1 AS change FROM counted WHERE sent_ns IS NOT NULL AND ended_ns IS NOT NULL
        UNION ALL
        SELECT ended_ns, -1 FROM counted WHERE sent_ns IS NOT NULL AND ended_ns IS NOT NULL
    )
),

-- Whether each page was read before the first request and after the last one, and until when where readings stopped.
coverage AS (
    SELECT
        bool_and(whole) AS read_throughout,
        (min(last_ns) FILTER (failed_ns > last_ns) - (SELECT min(sent_ns) FROM counted)) / 1e9 AS stopped_s
    FROM (
        SELECT
            count(*) FILTER (moment = 'first' AND readings IS NOT NULL) > 0
            AND count(*) FILTER (moment = 'last' AND readings IS NOT NULL) > 0 AS whole,
            max(at_ns) FILTER (readings IS NOT NULL) AS last_ns,
            max(at_ns) FILTER (error IS NOT NULL) AS failed_ns
        FROM sensor_readings
        WHERE source = 'server'
        GROUP BY segment, labels ['page']
    )
)

SELECT
    *,
    (SELECT 100 * (hit_tokens - cached) / nullif(queried_tokens - inputs, 0) FROM warm_up) AS measured_prefix_hit_pct,
    (SELECT max(requests) FROM in_flight) AS client_in_flight_max
FROM counted_by_server, gauges, measured_by_client, coverage;
