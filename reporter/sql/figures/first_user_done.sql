-- One row: when the measurement began, and when the first user had finished the last session: the first end of a session
-- after the last session began.
WITH last_begin AS (SELECT max(started_ns) AS last_ns FROM sessions WHERE measured)

SELECT
    (SELECT min(started_ns) FROM phases WHERE phase = 'performance') AS start_ns,
    min(ended_ns) FILTER (ended_ns >= last_ns) AS end_ns
FROM sessions, last_begin
WHERE measured;
