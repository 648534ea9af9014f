-- One row an event, as it was logged; data is NULL where there was nothing to tell.
CREATE TABLE events AS
SELECT
    seq,
    type::VARCHAR AS type,
    at_ns + by_ns AS at_ns,
    wall_time(at_ns + by_ns) AS at_utc,
    nullif(sample_uuid::VARCHAR, '') AS sample_uuid,
    shifted(nullif(data::VARCHAR, ''), by_ns) AS data
FROM (SELECT *, shift_of(seq) AS by_ns FROM stream);
