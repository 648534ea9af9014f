-- One row: what the log opens with, and how the last segment ended (segment_ends.sql).
CREATE TABLE session AS
SELECT
    session_id::VARCHAR AS session_id,
    started_at_ns,
    started_wall_ns,
    make_timestamp(started_wall_ns // 1000) AS started_at_utc,
    NULL::VARCHAR AS ended,
    settings::JSON AS settings,
    environment::JSON AS environment
FROM stream;

-- Wall time of a moment of CLOCK_MONOTONIC, in UTC.
CREATE MACRO wall_time(moment_ns) AS
    make_timestamp((moment_ns + (SELECT started_wall_ns - started_at_ns FROM session)) // 1000);

-- Whether another program made the run, and its results were imported.
CREATE MACRO is_imported() AS (SELECT coalesce(bool_or(settings ->> '$.imported' IS NOT NULL), false) FROM session);

-- Whether that program measured requests; moments of others order them, and measure nothing.
CREATE MACRO is_measured_elsewhere() AS
    (SELECT coalesce(bool_or(settings ->> '$.imported.measured' = 'true'), false) FROM session);
