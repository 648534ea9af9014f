-- How the load generator's own process was doing while it issued requests.
SELECT
    count(*) AS readings,
    median((data ->> '$.loop_lag_p50_ms')::DOUBLE) AS loop_lag_p50_ms,
    max((data ->> '$.loop_lag_max_ms')::DOUBLE) AS loop_lag_max_ms,
    max((data ->> '$.gc_pause_max_ms')::DOUBLE) AS gc_pause_max_ms,
    avg((data ->> '$.cpu_share')::DOUBLE) AS cpu_share_mean,
    max((data ->> '$.cpu_share')::DOUBLE) AS cpu_share_max,
    max((data ->> '$.in_flight')::BIGINT) AS in_flight_max
FROM telemetry
WHERE
    source = 'client'
    AND at_ns >= (SELECT started_ns FROM phases WHERE phase = 'performance')
    AND at_ns <= coalesce(
        (SELECT max(at_ns) FROM session_events WHERE type = 'STOP_PERFORMANCE_TRACKING'),
        at_ns
    );
