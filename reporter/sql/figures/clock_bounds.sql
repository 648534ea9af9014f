-- What the uncertainty of the nodes' clocks means for the rate. A window between events of the run has all completions,
-- and its ends are on two clocks; any other has its own ends, near which a completion may belong to either side.
WITH inside AS (
    SELECT
        count(*) FILTER (ended_ns BETWEEN start_ns + doubt_ns AND end_ns - doubt_ns) AS least,
        count(*) FILTER (ended_ns BETWEEN start_ns - doubt_ns AND end_ns + doubt_ns) AS most
    FROM (
        SELECT *, if(kind IN ('requests', 'cut_off', 'running'), 0, uncertainty_ns) AS doubt_ns
        FROM requests JOIN node_logs USING (node) JOIN windows USING (sitting)
        WHERE measured AND status = 'completed'
    )
),

clock AS (
    SELECT if(count(*) = count(uncertainty_ns), max(uncertainty_ns), NULL) AS uncertainty_ns FROM node_logs WHERE is_here
),

ends AS (
    SELECT sum(if(kind IN ('requests', 'cut_off', 'running'), 2 * uncertainty_ns, 0)) / 1e9 AS in_doubt_s
    FROM windows, clock
    WHERE duration_s IS NOT NULL
)

SELECT
    uncertainty_ns / 1e6 AS clock_uncertainty_ms,
    CASE WHEN uncertainty_ns IS NOT NULL THEN least / (duration_s + in_doubt_s) END AS qps_low,
    CASE WHEN duration_s > in_doubt_s THEN most / (duration_s - in_doubt_s) END AS qps_high
FROM inside, clock, ends, measured_window;
