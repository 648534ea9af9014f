-- How each sitting ended. One without TEST_ENDED was cut off, unless it is the last and somebody still writes it.
CREATE TABLE sitting_ends AS
SELECT
    sitting,
    coalesce(
        min(data ->> '$.reason') FILTER (type = 'TEST_ENDED'),
        CASE WHEN sitting = (SELECT max(sitting) FROM clocks) THEN getvariable('unended') ELSE 'cut_off' END
    ) AS ended
FROM clocks LEFT JOIN session_events USING (sitting)
GROUP BY sitting;
