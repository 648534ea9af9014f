-- How the load generator's own processes were doing while it issued requests, in whichever segment: the worst of its
-- workers, and the sum where one makes sense; over the processes of one machine. A log that names no worker is that of a single one.
--
-- Where issuing took less than a second (a short run, everything at once), no reading falls into it: then the
-- readings count until a second after the last request has ended.
WITH span AS (
    SELECT segment, started_ns AS start_ns, issued_ns, over.ended_ns
    FROM phases
    LEFT JOIN (
        SELECT segment, max(at_ns) AS issued_ns FROM session_events WHERE type = 'STOP_PERFORMANCE_TRACKING' AND node IS NULL GROUP BY segment
    ) USING (segment)
    LEFT JOIN (
        SELECT segment, max(ended_ns) + 1_000_000_000 AS ended_ns FROM requests GROUP BY segment
    ) AS over USING (segment)
    WHERE phase = 'performance'
),

measured_span AS (
    SELECT
        segment,
        start_ns,
        CASE
            WHEN EXISTS (
                SELECT 1 FROM telemetry
                WHERE
                    telemetry.segment = span.segment
                    AND source = 'client'
                    AND at_ns BETWEEN span.start_ns AND coalesce(span.issued_ns, at_ns)
            ) THEN issued_ns
            ELSE ended_ns
        END AS end_ns
    FROM span
),

readings AS (
    SELECT at_ns, segment, node, source, unnest(from_json(data, '{
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
    FROM telemetry JOIN measured_span USING (segment)
    WHERE source IN ('client', 'parent') AND at_ns BETWEEN start_ns AND coalesce(end_ns, at_ns)
),

-- Sums are taken over sorted lists: fractions add up to the same, in whatever order the readings were written.
each_worker AS (
    SELECT
        node,
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
    SELECT node, list_avg(list_sort(list(cpu_share))) AS cpu_share_mean FROM readings WHERE source = 'parent' GROUP BY node
),

-- All processes of each machine.
machine AS (
    SELECT each_worker.node, list_sum(list_sort(list(each_worker.cpu_share_mean)))
        + coalesce(any_value(parent.cpu_share_mean), 0) AS cpu_share_sum
    FROM each_worker LEFT JOIN parent ON parent.node IS NOT DISTINCT FROM each_worker.node
    GROUP BY each_worker.node
),

-- What a reading says of requests in flight is true of its moment; what was true in between, the requests know.
changes AS (
    SELECT segment, issued_ns AS at_ns, 1 AS change FROM requests
    UNION ALL
    SELECT segment, ended_ns, -1 FROM requests WHERE ended_ns IS NOT NULL
),

levels AS (
    SELECT sum(change) OVER (PARTITION BY segment ORDER BY at_ns, change ROWS UNBOUNDED PRECEDING) AS in_flight
    FROM changes
)

SELECT
    coalesce(sum(readings), 0)::BIGINT AS readings,
    count(*) AS workers,
    max(loop_lag_p50_ms) AS loop_lag_p50_ms,
    max(loop_lag_max_ms) AS loop_lag_max_ms,
    max(gc_pause_max_ms) AS gc_pause_max_ms,
    max(cpu_share_mean) AS cpu_share_mean,
    max(cpu_share_max) AS cpu_share_max,
    (SELECT max(cpu_share_sum) FROM machine) AS cpu_share_sum,
    max(cpu_wait_share_mean) AS cpu_wait_share_mean,
    max(cpu_wait_share_max) AS cpu_wait_share_max,
    (SELECT max(cpu_share_mean) FROM parent) AS parent_cpu_share_mean,
    (SELECT max(in_flight) FROM levels)::BIGINT AS in_flight_max,
    max(backlog_events_max) AS backlog_events_max,
    list_sum(list_sort(list(held_up_ms))) AS held_up_ms,
    list(each_worker ORDER BY node, worker) AS per_worker
FROM each_worker;
