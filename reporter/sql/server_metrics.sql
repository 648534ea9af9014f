-- One row a reading of a metrics page, all engines behind it together. Means and rates are those since the reading
-- before; NULL where the page does not have what they need, or where a counter went back, as after a restart.
CREATE VIEW server_metrics AS
WITH pages AS (
    SELECT
        at_ns,
        segment,
        labels ['page'] AS page,
        any_value(moment) AS moment,
        any_value(labels ['server']) AS server,
        sum(readings ['running_requests']) AS running_requests,
        sum(readings ['waiting_requests']) AS waiting_requests,
        100 * avg(readings ['kv_cache_usage_ratio']) AS kv_cache_usage_pct,
        sum(readings ['preemptions_total']) AS preemptions_total,
        sum(readings ['prefix_queried_tokens_total']) AS prefix_queried_tokens_total,
        sum(readings ['prefix_hit_tokens_total']) AS prefix_hit_tokens_total,
        sum(readings ['prompt_tokens_total']) AS prompt_tokens_total,
        sum(readings ['output_tokens_total']) AS output_tokens_total,
        sum(readings ['completed_requests_total']) AS completed_requests_total,
        sum(readings ['ttft_sum_s']) AS ttft_sum_s,
        sum(readings ['ttft_requests_total']) AS ttft_requests_total,
        sum(readings ['itl_sum_s']) AS itl_sum_s,
        sum(readings ['itl_gaps_total']) AS itl_gaps_total,
        sum(readings ['tpot_sum_s']) AS tpot_sum_s,
        sum(readings ['tpot_requests_total']) AS tpot_requests_total,
        sum(readings ['queue_sum_s']) AS queue_sum_s,
        sum(readings ['queue_requests_total']) AS queue_requests_total,
        sum(readings ['latency_sum_s']) AS latency_sum_s,
        sum(readings ['latency_requests_total']) AS latency_requests_total
    FROM sensor_readings
    WHERE source = 'server' AND readings IS NOT NULL
    GROUP BY at_ns, segment, labels ['page']
)

SELECT
    at_ns,
    wall_time(at_ns) AS at_utc,
    segment,
    page,
    server,
    moment,
    running_requests,
    waiting_requests,
    kv_cache_usage_pct,
    preemptions_total,
    prompt_tokens_total,
    output_tokens_total,
    completed_requests_total,
    1e9 * grown(output_tokens_total, lag(output_tokens_total) OVER page_readings)
    / nullif(at_ns - lag(at_ns) OVER page_readings, 0) AS output_tps,
    100 * grown(prefix_hit_tokens_total, lag(prefix_hit_tokens_total) OVER page_readings)
    / nullif(grown(prefix_queried_tokens_total, lag(prefix_queried_tokens_total) OVER page_readings), 0)
        AS prefix_hit_pct,
    1e3 * grown(ttft_sum_s, lag(ttft_sum_s) OVER page_readings)
    / nullif(grown(ttft_requests_total, lag(ttft_requests_total) OVER page_readings), 0) AS ttft_mean_ms,
    1e3 * grown(itl_sum_s, lag(itl_sum_s) OVER page_readings)
    / nullif(grown(itl_gaps_total, lag(itl_gaps_total) OVER page_readings), 0) AS itl_mean_ms,
    1e3 * grown(tpot_sum_s, lag(tpot_sum_s) OVER page_readings)
    / nullif(grown(tpot_requests_total, lag(tpot_requests_total) OVER page_readings), 0) AS tpot_mean_ms,
    1e3 * grown(queue_sum_s, lag(queue_sum_s) OVER page_readings)
    / nullif(grown(queue_requests_total, lag(queue_requests_total) OVER page_readings), 0) AS queue_mean_ms,
    1e3 * grown(latency_sum_s, lag(latency_sum_s) OVER page_readings)
    / nullif(grown(latency_requests_total, lag(latency_requests_total) OVER page_readings), 0) AS latency_mean_ms,
    prefix_queried_tokens_total,
    prefix_hit_tokens_total,
    ttft_sum_s,
    ttft_requests_total,
    itl_sum_s,
    itl_gaps_total,
    tpot_sum_s,
    tpot_requests_total,
    queue_sum_s,
    queue_requests_total,
    latency_sum_s,
    latency_requests_total
FROM pages
WINDOW page_readings AS (PARTITION BY segment, page ORDER BY at_ns)
ORDER BY at_ns, page;
