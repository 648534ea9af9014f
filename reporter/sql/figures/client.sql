-- How the load generator's own processes were doing while it issued requests: the worst of its workers, and the sum
-- where one makes sense. A log that names no worker is that of a single one.
--
-- Where issuing took less than a second (a short run, everything at once), no reading falls into it: then the
-- readings count until a second after the last request has ended.
WITH span AS (
    SELECT
        (SELECT started_ns FROM phases WHERE phase = 'performance') AS start_ns,
        (SELECT max(at_ns) FROM session_events WHERE type = 'STOP_PERFORMANCE_TRACKING') AS issued_ns,
        (SELECT max(ended_ns) FROM requests) + 1_000_000_000 AS ended_ns
),

measured_span AS (
    SELECT
        start_ns,
        CASE
            WHEN EXISTS (
                SELECT 1 FROM telemetry
                WHERE source = 'client' AND at_ns BETWEEN span.start_ns AND coalesce(span.issued_ns, at_ns)
            ) THEN issued_ns
            ELSE ended_ns
        END AS end_ns
    FROM span
),

readings AS (
    SELECT at_ns, source, unnest(from_json(data, '{
        "worker": "BIGINT",
        "loop_lag_p50_ms": "DOUBLE",
        "loop_lag_max_ms": "DOUBLE",
        "gc_pause_max_ms": "DOUBLE",
        "cpu_share": "DOUBLE",
        "cpu_wait_share": "DOUBLE",
        "in_flight": "BIGINT",
        "backlog_events": "BIGINT",
        "held_up_ms": "DOUBLE"
    }'))
    FROM telemetry
    WHERE
        source IN ('client', 'parent')
        AND at_ns >= (SELECT start_ns FROM measured_span)
        AND at_ns <= coalesce((SELECT end_ns FROM measured_span), at_ns)
),

-- Sums are taken over sorted lists: fractions add up to the same, in whatever order the readings were written.
each_worker AS (
    SELECT
        coalesce(worker, 0) AS worker,
        count(*) AS readings,
        median(loop_lag_p50_ms) AS loop_lag_p50_ms,
        max(loop_lag_max_ms) AS loop_lag_max_ms,
        max(gc_pause_max_ms) AS gc_pause_max_ms,
        list_avg(list_sort(list(cpu_share))) AS cpu_share_mean,
        max(cpu_share) AS cpu_share_max,
        list_avg(list_sort(list(cpu_wait_share))) AS cpu_wait_share_mean,
        max(cpu_wait_share) AS cpu_wait_share_max,
        max(in_flight) AS in_flight_max,
        max(backlog_events) AS backlog_events_max,
        list_sum(list_sort(list(held_up_ms))) AS held_up_ms
    FROM readings
    WHERE source = 'client'
    GROUP BY ALL
),

parent AS (
    SELECT list_avg(list_sort(list(cpu_share))) AS cpu_share_mean FROM readings WHERE source = 'parent'
),

-- Workers tell at different moments: at each, what all of them told last counts together.
changes AS (
    SELECT
        at_ns,
        in_flight - lag(in_flight, 1, 0) OVER (PARTITION BY coalesce(worker, 0) ORDER BY at_ns, in_flight) AS change
    FROM readings
    WHERE source = 'client' AND in_flight IS NOT NULL
),

levels AS (
    SELECT sum(change) OVER (ORDER BY at_ns) AS in_flight FROM changes
)

SELECT
    coalesce(sum(readings), 0)::BIGINT AS readings,
    count(*) AS workers,
    max(loop_lag_p50_ms) AS loop_lag_p50_ms,
    max(loop_lag_max_ms) AS loop_lag_max_ms,
    max(gc_pause_max_ms) AS gc_pause_max_ms,
    max(cpu_share_mean) AS cpu_share_mean,
    max(cpu_share_max) AS cpu_share_max,
    list_sum(list_sort(list(cpu_share_mean))) + coalesce((SELECT cpu_share_mean FROM parent), 0) AS cpu_share_sum,
    max(cpu_wait_share_mean) AS cpu_wait_share_mean,
    max(cpu_wait_share_max) AS cpu_wait_share_max,
    (SELECT cpu_share_mean FROM parent) AS parent_cpu_share_mean,
    (SELECT max(in_flight) FROM levels)::BIGINT AS in_flight_max,
    max(backlog_events_max) AS backlog_events_max,
    list_sum(list_sort(list(held_up_ms))) AS held_up_ms,
    list(each_worker ORDER BY worker) AS per_worker
FROM each_worker;
