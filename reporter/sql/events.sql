-- One row an event, as it was logged; data is NULL where there was nothing to tell.
CREATE TABLE events AS
SELECT
    seq,
    type::VARCHAR AS type,
    at_ns,
    wall_time(at_ns) AS at_utc,
    nullif(sample_uuid::VARCHAR, '') AS sample_uuid,
    nullif(data::VARCHAR, '')::JSON AS data
FROM stream;
