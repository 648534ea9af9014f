-- One row a response with vectors or scores.
CREATE TABLE results AS
SELECT sample_uuid, unnest(from_json(data::VARCHAR ->> '$.results', columns_of(Results)))
FROM stream;
