-- One row a span between two readings of the power of one device: its energy, by the device's counter where it has one that
-- did not go back, else by the mean of the two powers. A declared power is one span for each segment.
CREATE TABLE power_spans AS
WITH measured AS (
    SELECT
        sitting,
        source,
        coalesce(labels ['uuid'], labels ['UUID'], labels ['gpu'], '') AS device,
        at_ns AS start_ns,
        lead(at_ns) OVER device_readings AS end_ns,
        grown(lead(readings ['energy_j_total']) OVER device_readings, readings ['energy_j_total']) AS counted_j,
        (readings ['power_w'] + lead(readings ['power_w']) OVER device_readings) / 2
        * (lead(at_ns) OVER device_readings - at_ns) / 1e9 AS integrated_j,
        lead(readings ['energy_j_total']) OVER device_readings < readings ['energy_j_total'] AS went_back,
        (readings ['utilization_pct'] + lead(readings ['utilization_pct']) OVER device_readings) / 2 AS utilization_pct
    FROM sensor_readings
    WHERE source IN ('nvml', 'dcgm') AND error IS NULL AND readings IS NOT NULL
    WINDOW device_readings AS (
        PARTITION BY sitting, source, coalesce(labels ['uuid'], labels ['UUID'], labels ['gpu'], '') ORDER BY at_ns
    )
),

declared AS (
    SELECT
        sitting,
        'declared' AS source,
        'declared' AS device,
        arg_min(at_ns, seq) AS start_ns,
        arg_max(at_ns, seq) AS end_ns,
        max(CASE WHEN data ->> '$.source' = 'declared' THEN (data ->> '$.about.power_w')::DOUBLE END) AS power_w
    FROM session_events
    GROUP BY sitting
),

spans AS (
    SELECT
        sitting,
        source,
        device,
        start_ns,
        end_ns,
        coalesce(counted_j, integrated_j) AS energy_j,
        CASE WHEN counted_j IS NULL THEN 'power' ELSE 'counter' END AS method,
        integrated_j,
        coalesce(went_back, false) AS went_back,
        utilization_pct
    FROM measured
    WHERE end_ns > start_ns AND coalesce(counted_j, integrated_j) IS NOT NULL
    UNION ALL
    SELECT
        sitting,
        source,
        device,
        start_ns,
        end_ns,
        power_w * (end_ns - start_ns) / 1e9 AS energy_j,
        'declared' AS method,
        power_w * (end_ns - start_ns) / 1e9 AS integrated_j,
        false AS went_back,
        NULL AS utilization_pct
    FROM declared
    WHERE power_w IS NOT NULL AND end_ns > start_ns
)

-- What is measured goes before what is declared, and this host's own GPUs before an exporter's.
-- devices: all that were read, also one that was lost after its first reading and has no span.
SELECT
    *,
    greatest(1, (SELECT count(DISTINCT measured.device) FROM measured WHERE measured.source = spans.source)) AS devices
FROM spans
WHERE source = (
    SELECT arg_min(source, CASE source WHEN 'nvml' THEN 1 WHEN 'dcgm' THEN 2 ELSE 3 END) FROM spans
);
