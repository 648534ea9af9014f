-- One row a sensor and a reason why it could not be read: how often, of how many moments, and what was wrong once.
SELECT
    source,
    error,
    count(*) AS readings,
    (SELECT count(DISTINCT (segment, at_ns)) FROM sensor_readings AS every WHERE every.source = failed.source) AS tried,
    any_value(message) AS example
FROM sensor_readings AS failed
WHERE error IS NOT NULL
GROUP BY source, error
ORDER BY source, readings DESC, error;
