-- How each node of a run of several machines was doing (reporter.nodes.NodeReport). A second is behind as in issuing.sql.
WITH planned AS (
    SELECT node, segment, status, in_window, scheduled_ns, issued_ns, issue_lag_ms, ttft_ms
    FROM samples
    WHERE measured AND node IS NOT NULL
),

spans AS (
    SELECT segment, min(scheduled_ns) AS first_ns FROM planned GROUP BY segment
),

seconds AS (
    SELECT
        node,
        (scheduled_ns - first_ns) // 1_000_000_000 AS second,
        count(*) AS due,
        count(*) FILTER (issued_ns < first_ns + (second + 1) * 1_000_000_000 + 50_000_000) AS left_in_time
    FROM planned JOIN spans USING (segment)
    GROUP BY node, segment, second
),

behind AS (
    SELECT node, count(*) AS seconds, count(*) FILTER (left_in_time + 1 < 0.95 * due) AS seconds_behind
    FROM seconds
    GROUP BY node
),

requests_of AS (
    SELECT
        node,
        count(*) FILTER (in_window) / any_value(duration_s) AS qps,
        quantile_cont(ttft_ms, 0.99) FILTER (status = 'completed') AS ttft_p99_ms,
        quantile_cont(issue_lag_ms, 0.99) AS issue_lag_p99_ms
    FROM planned, measured_window
    GROUP BY node
),

workers AS (
    SELECT
        node,
        count(*) AS workers,
        max(loop_lag_max_ms) AS loop_lag_max_ms,
        max(cpu_share_mean) AS cpu_share_max,
        list_sum(list_sort(list(held_up_ms))) AS held_up_ms
    FROM (
        SELECT
            node,
            max((data ->> '$.loop_lag_max_ms')::DOUBLE) AS loop_lag_max_ms,
            list_avg(list_sort(list((data ->> '$.cpu_share')::DOUBLE))) AS cpu_share_mean,
            list_sum(list_sort(list((data ->> '$.held_up_ms')::DOUBLE))) AS held_up_ms
        FROM telemetry
        WHERE source = 'client'
        GROUP BY node, (data ->> '$.worker')::BIGINT
    )
    GROUP BY node
),

recorders AS (
    SELECT
        node,
        sum((data ->> '$.events')::BIGINT)::BIGINT AS events,
        sum((data ->> '$.lost')::BIGINT)::BIGINT AS lost,
        max((data ->> '$.longest_wait_ms')::DOUBLE) AS longest_wait_ms
    FROM (SELECT node, arg_max(data, at_ns) AS data FROM telemetry WHERE source = 'recorder' GROUP BY node, segment)
    GROUP BY node
)

SELECT
    node,
    state,
    shift_ns / 1e6 AS clock_shift_ms,
    uncertainty_ns / 1e6 AS clock_uncertainty_ms,
    clock_readings,
    clock_is_steady,
    issued,
    completed,
    failed,
    cancelled,
    in_flight,
    qps,
    ttft_p99_ms,
    coalesce(seconds, 0) AS seconds,
    coalesce(seconds_behind, 0) AS seconds_behind,
    issue_lag_p99_ms,
    coalesce(workers, 0) AS workers,
    loop_lag_max_ms,
    cpu_share_max,
    held_up_ms,
    events,
    lost,
    longest_wait_ms
FROM nodes
LEFT JOIN behind USING (node)
LEFT JOIN requests_of USING (node)
LEFT JOIN workers USING (node)
LEFT JOIN recorders USING (node)
ORDER BY node;
