-- One row a span between two readings of the power of one device: its energy, by the device's counter where it has one that
-- neither went back nor rose faster than 10 kW, else by the mean of the two powers. An exporter may bring its counter up to
-- date every 30 s only. A declared power is one span for each segment.
CREATE TABLE power_spans AS
WITH power_readings AS (
    SELECT
        *,
        coalesce(
            labels ['uuid'],
            labels ['UUID'],
            labels ['gpu_uuid'],
            concat_ws('/', labels ['page'], labels ['Hostname'], labels ['hostname'], labels ['gpu'], labels ['gpu_id']),
            ''
        ) AS device
    FROM sensor_readings
    WHERE
        source IN ('nvml', 'amdsmi', 'dcgm', 'amd_exporter', 'intel_exporter')
        AND (readings ['power_w'] IS NOT NULL OR readings ['energy_j_total'] IS NOT NULL)
),

grown_energy AS (
    SELECT
        *,
        lead(readings ['energy_j_total']) OVER device_readings - readings ['energy_j_total'] AS grown_j,
        lead(at_ns) OVER device_readings AS end_ns
    FROM power_readings
    WINDOW device_readings AS (PARTITION BY segment, source, device ORDER BY at_ns)
),

measured AS (
    SELECT
        segment,
        source,
        device,
        at_ns AS start_ns,
        end_ns,
        if(grown_j BETWEEN 0 AND 10000 * (60 + (end_ns - at_ns) / 1e9), grown_j, NULL) AS counted_j,
        (readings ['power_w'] + lead(readings ['power_w']) OVER device_readings) / 2 * (end_ns - at_ns) / 1e9 AS integrated_j,
        grown_j NOT BETWEEN 0 AND 10000 * (60 + (end_ns - at_ns) / 1e9) AS went_back,
        (readings ['utilization_pct'] + lead(readings ['utilization_pct']) OVER device_readings) / 2 AS utilization_pct
    FROM grown_energy
    WINDOW device_readings AS (PARTITION BY segment, source, device ORDER BY at_ns)
),

declared AS (
    SELECT
        segment,
        'declared' AS source,
        'declared' AS device,
        arg_min(at_ns, seq) AS start_ns,
        arg_max(at_ns, seq) AS end_ns,
        max(CASE WHEN data ->> '$.source' = 'declared' THEN (data ->> '$.about.power_w')::DOUBLE END) AS power_w
    FROM session_events
    GROUP BY segment
),

spans AS (
    SELECT
        segment,
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
        segment,
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
    SELECT arg_min(source, CASE WHEN source IN ('nvml', 'amdsmi') THEN 1 WHEN source = 'declared' THEN 3 ELSE 2 END) FROM spans
);
