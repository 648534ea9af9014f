-- What happened to the session as a whole, in few rows.
CREATE TABLE session_events AS
SELECT seq, sitting_of(seq) AS sitting, type::VARCHAR AS type, at_ns + by_ns AS at_ns, shifted(nullif(data::VARCHAR, ''), by_ns) AS data
FROM (SELECT *, shift_of(seq) AS by_ns FROM stream);
