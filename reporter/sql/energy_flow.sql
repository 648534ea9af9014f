-- One row a span in which neither the power nor the number of requests in flight changes: at each moment all requests in
-- flight, of every phase, share the power equally; without any it is idle.
-- The sums up to its start make what a request gets a difference of two rows.
CREATE TABLE energy_flow AS
WITH changes AS (
    SELECT segment, start_ns AS at_ns, 0 AS requests, energy_j / (end_ns - start_ns) AS j_per_ns, utilization_pct AS busy_pct,
        1 AS devices
    FROM power_spans
    UNION ALL
    SELECT segment, end_ns, 0, -energy_j / (end_ns - start_ns), -utilization_pct, -1 FROM power_spans
    UNION ALL
    SELECT segment, sent_ns, 1, 0, 0, 0 FROM requests WHERE ended_ns > sent_ns
    UNION ALL
    SELECT segment, ended_ns, -1, 0, 0, 0 FROM requests WHERE ended_ns > sent_ns
),

moments AS (
    SELECT
        segment,
        at_ns,
        sum(requests) AS requests,
        sum(j_per_ns) AS j_per_ns,
        coalesce(sum(busy_pct), 0) AS busy_pct,
        sum(devices) AS devices
    FROM changes
    GROUP BY segment, at_ns
),

levels AS (
    SELECT
        segment,
        at_ns,
        lead(at_ns) OVER later AS end_ns,
        sum(requests) OVER upto AS in_flight,
        -- Without a device there is no power; sums of what has been added and taken away are not exactly 0.
        CASE WHEN sum(devices) OVER upto > 0 THEN sum(j_per_ns) OVER upto ELSE 0 END AS j_per_ns,
        CASE WHEN sum(devices) OVER upto > 0 THEN sum(busy_pct) OVER upto / sum(devices) OVER upto END AS busy_pct,
        sum(devices) OVER upto AS devices
    FROM moments
    WINDOW
        upto AS (PARTITION BY segment ORDER BY at_ns ROWS UNBOUNDED PRECEDING),
        later AS (PARTITION BY segment ORDER BY at_ns)
)

SELECT
    segment,
    at_ns,
    end_ns,
    in_flight,
    devices,
    coalesce(j_per_ns * (end_ns - at_ns), 0) AS energy_j,
    coalesce(sum(j_per_ns * (end_ns - at_ns)) OVER before, 0) AS energy_before_j,
    coalesce(sum(j_per_ns * (end_ns - at_ns) / nullif(in_flight, 0)) OVER before, 0) AS share_before_j,
    coalesce(sum(busy_pct * (end_ns - at_ns)) OVER before, 0) AS busy_before,
    -- For how long all devices were observed, of which there is at least one.
    coalesce(sum(CASE WHEN devices = (SELECT any_value(devices) FROM power_spans) THEN end_ns - at_ns END)
        OVER before, 0) AS observed_before_ns
FROM levels
WINDOW before AS (PARTITION BY segment ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
