-- Events of few kinds, and those without their data (`unencoded`).
CREATE TABLE few_events AS
SELECT seq, code, name::VARCHAR AS name, at_ns, data::VARCHAR AS data FROM stream;
