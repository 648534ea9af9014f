-- One row a request to a judge; `judged_uuid` is the request whose answer it judges.
CREATE TABLE judge_calls AS
WITH events AS (
    SELECT
        seq,
        code,
        at_ns + shift_of(seq) AS at_ns,
        sample_uuid::VARCHAR AS sample_uuid,
        nullif(data::VARCHAR, '')::JSON AS data,
        nullif(texts::VARCHAR, '')::JSON ->> '$.output' AS output
    FROM stream
),

asked AS (
    SELECT seq, at_ns, sample_uuid, data FROM events WHERE code = EventType.LOADGEN_ISSUE_CALLED AND data ->> '$.phase' = 'judge'
),

ended AS (
    SELECT DISTINCT ON (sample_uuid)
        seq,
        code,
        at_ns,
        sample_uuid,
        data,
        from_json(data, columns_of(Response, input_tokens, output_tokens, reasoning_tokens, bytes)) AS reply,
        output
    FROM events
    WHERE code BETWEEN EventType.COMPLETE AND EventType.CANCELLED
    ORDER BY sample_uuid, seq
)

SELECT
    asked.sample_uuid,
    asked.data ->> '$.judges' AS judged_uuid,
    asked.data ->> '$.scorer' AS scorer,
    asked.data ->> '$.inquiry' AS inquiry,
    asked.data ->> '$.judge_version' AS judge_version,
    asked.data ->> '$.model' AS model,
    coalesce(asked.data ->> '$.sampling', '') AS sampling,
    (asked.data ->> '$.temperature')::DOUBLE AS temperature,
    (asked.data ->> '$.max_tokens')::BIGINT AS max_tokens,
    CASE ended.code
        WHEN EventType.COMPLETE THEN 'completed'
        WHEN EventType.ERROR THEN 'failed'
        WHEN EventType.CANCELLED THEN 'cancelled'
        ELSE 'in_flight'
    END AS status,
    ended.data ->> '$.error' AS error,
    coalesce(ended.data ->> '$.message', ended.data ->> '$.reason') AS error_message,
    asked.at_ns AS issued_ns,
    ended.at_ns AS ended_ns,
    (ended.at_ns - asked.at_ns) / 1e6 AS latency_ms,
    CASE WHEN is_count(reply.input_tokens) THEN reply.input_tokens END AS input_tokens,
    CASE
        WHEN is_output_count(reply.output_tokens, reply.reasoning_tokens, reply.bytes, max_tokens)
        THEN reply.output_tokens
    END AS output_tokens,
    ended.output,
    ended.seq AS ended_seq
FROM asked LEFT JOIN ended USING (sample_uuid);
