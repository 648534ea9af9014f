-- One row for each event whose data could not be written: the log has the cause in its place (recorder/schema.py).
CREATE TABLE unencoded AS
SELECT type::VARCHAR AS type FROM stream

UNION ALL

SELECT type FROM session_events WHERE data ->> '$.encode_error' IS NOT NULL;
