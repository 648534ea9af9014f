-- What LOADGEN_ISSUE_CALLED tells.
CREATE TABLE issues AS
SELECT seq, unnest(from_json(nullif(data::VARCHAR, ''), '{
    "scheduled_ns": "BIGINT",
    "phase": "VARCHAR",
    "prompt_id": "BIGINT"
}'))
FROM stream;
