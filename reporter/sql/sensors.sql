-- One row a value that a sensor read. The unit is what its name ends in.
CREATE VIEW sensors AS
SELECT
    at_ns,
    wall_time(at_ns) AS at_utc,
    segment,
    source,
    to_json(coalesce(labels, MAP {})) AS labels,
    moment,
    reading.key AS name,
    reading.value AS value,
    CASE regexp_extract(regexp_replace(reading.key, '_total$', ''), '[^_]+$')
        WHEN 'pct' THEN '%'
        WHEN 'w' THEN 'W'
        WHEN 'j' THEN 'J'
        WHEN 'c' THEN '°C'
        WHEN 'mhz' THEN 'MHz'
        WHEN 'ratio' THEN '1'
        ELSE regexp_extract(regexp_replace(reading.key, '_total$', ''), '[^_]+$')
    END AS unit
FROM (
    SELECT *, unnest(map_entries(readings)) AS reading
    FROM sensor_readings
)
ORDER BY at_ns, seq;
