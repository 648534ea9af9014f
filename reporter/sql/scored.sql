-- One row a judgement of a grader; `scores` adds the requests that have none. Metrics stay JSON until a query reads them:
-- to make maps of them takes as long as all the rest.
CREATE TABLE scored AS
SELECT sample_uuid::VARCHAR AS sample_uuid, unnest(from_json(data::VARCHAR, columns_of(Scored)))
FROM stream;
