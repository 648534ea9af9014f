-- One row a request to a judge; `judged_uuid` is the request whose answer it judges.
CREATE TABLE judge_calls AS
WITH events AS (
    SELECT
        seq,
        code,
        at_ns,
        sample_uuid::VARCHAR AS sample_uuid,
        nullif(data::VARCHAR, '')::JSON AS data,
        nullif(texts::VARCHAR, '')::JSON ->> '$.output' AS output
    FROM stream
),

asked AS (
    SELECT seq, at_ns, sample_uuid, data FROM events WHERE code = 20 AND data ->> '$.phase' = 'judge'
),

ended AS (
    SELECT DISTINCT ON (sample_uuid) seq, code, at_ns, sample_uuid, data, output
    FROM events
    WHERE code BETWEEN 23 AND 25
    ORDER BY sample_uuid, seq
)

SELECT
    asked.sample_uuid,
    asked.data ->> '$.judges' AS judged_uuid,
    asked.data ->> '$.scorer' AS scorer,
    asked.data ->> '$.inquiry' AS inquiry,
    asked.data ->> '$.judge_version' AS judge_version,
    asked.data ->> '$.model' AS model,
    CASE ended.code WHEN 23 THEN 'completed' WHEN 24 THEN 'failed' WHEN 25 THEN 'cancelled' ELSE 'in_flight' END AS status,
    ended.data ->> '$.error' AS error,
    coalesce(ended.data ->> '$.message', ended.data ->> '$.reason') AS error_message,
    asked.at_ns AS issued_ns,
    ended.at_ns AS ended_ns,
    (ended.at_ns - asked.at_ns) / 1e6 AS latency_ms,
    (ended.data ->> '$.input_tokens')::BIGINT AS input_tokens,
    (ended.data ->> '$.output_tokens')::BIGINT AS output_tokens,
    ended.output,
    ended.seq AS ended_seq
FROM asked LEFT JOIN ended USING (sample_uuid);
