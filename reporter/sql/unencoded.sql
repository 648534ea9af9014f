-- One row for each event whose data could not be written: the log has the cause in its place (recorder/schema.py).
CREATE TABLE unencoded AS
SELECT 'LOADGEN_ISSUE_CALLED' AS type FROM issues WHERE unencoded

UNION ALL

SELECT 'REQUEST_SENT' AS type FROM sends WHERE unencoded

UNION ALL

SELECT
    CASE code
        WHEN EventType.COMPLETE THEN 'COMPLETE'
        WHEN EventType.ERROR THEN 'ERROR'
        ELSE 'CANCELLED'
    END AS type
FROM endings
WHERE unencoded

UNION ALL

SELECT type FROM session_events WHERE data ->> '$.encode_error' IS NOT NULL;
