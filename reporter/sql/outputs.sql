-- One row a response that brought something.
CREATE TABLE outputs AS
SELECT sample_uuid::VARCHAR AS sample_uuid, unnest(from_json(texts::VARCHAR, columns_of(OutputTexts)))
FROM stream
WHERE seq IN (SELECT ended_seq FROM requests);
