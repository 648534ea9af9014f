-- Every event of a log, as it was logged, with all times on one clock; `stream` has its rows.
SELECT
    sample_uuid::VARCHAR AS sample_uuid,
    type::VARCHAR AS type,
    at_ns + by_ns AS at_ns,
    coalesce(shifted(nullif(data::VARCHAR, ''), by_ns)::VARCHAR, '') AS data,
    texts::VARCHAR AS texts,
    chunk_gaps_us
FROM (SELECT *, shift_of(seq) AS by_ns FROM stream);
