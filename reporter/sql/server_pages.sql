-- One row a metrics page as it was served, before the first request of a segment and after its last one.
CREATE TABLE server_pages AS
SELECT
    at_ns,
    wall_time(at_ns) AS at_utc,
    segment_of(seq) AS segment,
    data::VARCHAR ->> '$.source' AS source,
    data::VARCHAR ->> '$.moment' AS moment,
    data::VARCHAR ->> '$.labels.page' AS page,
    texts::VARCHAR ->> '$.exposition' AS text
FROM (SELECT * REPLACE (at_ns + shift_of(seq) AS at_ns) FROM stream);
