-- What happened to the session as a whole, in few rows. `node` is NULL for what the log in the run's folder says: the
-- phases and the end of a run of several machines are those of its coordinator.
CREATE TABLE session_events AS
SELECT seq, segment_of(seq) AS segment, node_of(seq) AS node, type::VARCHAR AS type, at_ns + by_ns AS at_ns, shifted(nullif(data::VARCHAR, ''), by_ns) AS data
FROM (SELECT *, shift_of(seq) AS by_ns FROM stream);
