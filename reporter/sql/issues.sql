-- What LOADGEN_ISSUE_CALLED tells.
CREATE TABLE issues AS SELECT seq, data::VARCHAR AS data FROM stream;

CREATE OR REPLACE MACRO issue_payload(data) AS from_json(nullif(data, ''), '{
    "scheduled_ns": "BIGINT",
    "free_ns": "BIGINT",
    "phase": "VARCHAR",
    "prompt_id": "BIGINT",
    "conversation": "VARCHAR",
    "turn": "BIGINT",
    "turns": "BIGINT",
    "episode": "BOOLEAN",
    "role": "VARCHAR",
    "endpoint": "BIGINT",
    "max_tokens": "BIGINT",
    "tags": "JSON",
    "trace_id": "VARCHAR"
}');
