-- How each segment ended: by the reason of its TEST_ENDED, which is `completed` where the event names none.
-- Without a TEST_ENDED it was cut off, unless it is the last one and a process still writes it.
CREATE TABLE sitting_ends AS
SELECT
    sitting,
    coalesce(
        arg_max(coalesce(nullif(data ->> '$.reason', ''), 'completed'), seq) FILTER (type = 'TEST_ENDED' AND node IS NULL),
        CASE WHEN sitting = (SELECT max(sitting) FROM clocks) THEN getvariable('unended') ELSE 'cut_off' END
    ) AS ended
FROM clocks LEFT JOIN session_events USING (sitting)
GROUP BY sitting;
