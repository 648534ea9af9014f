-- How each segment ended: by the reason of its TEST_ENDED, which is `completed` where the event names none.
-- Without a TEST_ENDED it was cut off, unless it is the last one and a process still writes it.
CREATE TABLE segment_ends AS
SELECT
    segment,
    coalesce(
        arg_max(coalesce(nullif(data ->> '$.reason', ''), 'completed'), seq) FILTER (type = 'TEST_ENDED' AND node IS NULL),
        CASE WHEN segment = (SELECT max(segment) FROM clocks) THEN getvariable('unended') ELSE 'cut_off' END
    ) AS ended
FROM clocks LEFT JOIN session_events USING (segment)
GROUP BY segment;

UPDATE session SET ended = (SELECT arg_max(ended, segment) FROM segment_ends);
