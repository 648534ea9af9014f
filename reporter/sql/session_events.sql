-- What happened to the session as a whole, in few rows.
CREATE TABLE session_events AS
SELECT seq, sitting_of(seq) AS sitting, type::VARCHAR AS type, at_ns, nullif(data::VARCHAR, '')::JSON AS data
FROM stream;
