-- One row: the energy that was observed, and where it went; no source, no row.
WITH window_energy AS (
    SELECT
        sum(energy_j * (least(energy_flow.end_ns, windows.end_ns) - greatest(at_ns, start_ns))
            / (energy_flow.end_ns - at_ns)) AS window_joules,
        sum(least(energy_flow.end_ns, windows.end_ns) - greatest(at_ns, start_ns)) FILTER (
            devices = (SELECT any_value(devices) FROM power_spans)
        ) AS observed_ns
    FROM energy_flow JOIN windows USING (segment)
    WHERE at_ns < windows.end_ns AND energy_flow.end_ns > start_ns
),

shares AS (
    SELECT
        sum(ended.share_before_j - began.share_before_j) FILTER (measured) AS measured_joules,
        sum(ended.share_before_j - began.share_before_j) FILTER (NOT measured) AS other_joules
    FROM requests
    INNER JOIN energy_flow AS began ON began.segment = requests.segment AND began.at_ns = sent_ns
    INNER JOIN energy_flow AS ended ON ended.segment = requests.segment AND ended.at_ns = ended_ns
    WHERE ended_ns > sent_ns
)

SELECT
    any_value(source) AS source,
    CASE WHEN count(DISTINCT method) > 1 THEN 'mixed' ELSE any_value(method) END AS method,
    any_value(devices)::BIGINT AS devices,
    count(*) FILTER (went_back)::BIGINT AS went_back,
    sum(integrated_j) FILTER (method = 'counter') / nullif(sum(energy_j) FILTER (method = 'counter'), 0) AS integral_share,
    (SELECT coalesce(sum(energy_j), 0) FROM energy_flow) AS total_joules,
    (SELECT coalesce(measured_joules, 0) FROM shares) AS measured_joules,
    (SELECT coalesce(other_joules, 0) FROM shares) AS other_joules,
    (SELECT coalesce(sum(energy_j), 0) FROM energy_flow WHERE coalesce(in_flight, 0) = 0) AS idle_joules,
    (SELECT window_joules FROM window_energy) AS window_joules,
    (SELECT observed_ns FROM window_energy) AS observed_ns,
    (SELECT sum(end_ns - start_ns) FROM windows) AS window_ns
FROM power_spans
HAVING count(*) > 0;
