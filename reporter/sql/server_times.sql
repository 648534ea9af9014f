-- A time in ms of a Server-Timing header (W3C), by its name; NULL without one.
CREATE MACRO stated_time(header, names) AS try_cast(
    nullif(regexp_extract(header, '(?i)(?:^|,)[ ]*(?:' || names || ')[ ]*;[^,]*?dur=([0-9.]+)', 1), '') AS DOUBLE
);

-- One row a request and a place in which its response states times: by the server's or a gateway's clock, and
-- the client's figure of the same time. A header left before the first token: `head_ms` is up to there.
CREATE VIEW server_times AS
WITH statements AS (
    SELECT
        * EXCLUDE (server),
        server -> '$.metrics' AS vllm,
        server -> '$.timings' AS llama,
        coalesce(server -> '$.time_info', server) AS usage,
        server -> '$.meta_info' AS sglang,
        server -> '$.headers' AS headers,
        server ->> '$.headers.server-timing' AS timing
    FROM requests
    WHERE server IS NOT NULL
),

stated AS (
    SELECT
        sample_uuid, 'metrics' AS source, 'server' AS clock,
        (vllm ->> '$.queue_time_ms')::DOUBLE AS queue_ms,
        (vllm ->> '$.time_to_first_token_ms')::DOUBLE - coalesce((vllm ->> '$.queue_time_ms')::DOUBLE, 0) AS prefill_ms,
        (vllm ->> '$.time_to_first_token_ms')::DOUBLE AS first_token_ms,
        (vllm ->> '$.generation_time_ms')::DOUBLE AS decode_ms,
        NULL::DOUBLE AS whole_ms,
        NULL::DOUBLE AS head_ms
    FROM statements WHERE (vllm ->> '$.time_to_first_token_ms') IS NOT NULL
    UNION ALL
    SELECT
        sample_uuid, 'timings', 'server', NULL, (llama ->> '$.prompt_ms')::DOUBLE, NULL, (llama ->> '$.predicted_ms')::DOUBLE,
        NULL, NULL
    FROM statements WHERE (llama ->> '$.prompt_ms') IS NOT NULL
    UNION ALL
    SELECT
        sample_uuid, 'usage', 'server', 1e3 * (usage ->> '$.queue_time')::DOUBLE, 1e3 * (usage ->> '$.prompt_time')::DOUBLE, NULL,
        1e3 * (usage ->> '$.completion_time')::DOUBLE, 1e3 * (usage ->> '$.total_time')::DOUBLE, NULL
    FROM statements WHERE (usage ->> '$.prompt_time') IS NOT NULL
    UNION ALL
    SELECT
        sample_uuid, 'meta_info', 'server', 1e3 * (sglang ->> '$.queue_time')::DOUBLE, NULL, NULL, NULL,
        1e3 * (sglang ->> '$.e2e_latency')::DOUBLE, NULL
    FROM statements WHERE (sglang ->> '$.e2e_latency') IS NOT NULL
    UNION ALL
    SELECT
        sample_uuid, 'Server-Timing', 'server', stated_time(timing, 'queue(?:d|_time)?|wait'),
        stated_time(timing, 'prefill|prompt'), stated_time(timing, 'ttft'), stated_time(timing, 'decode|generation'), NULL,
        stated_time(timing, 'total')
    FROM statements WHERE timing IS NOT NULL
    UNION ALL
    SELECT
        sample_uuid, 'x-queue-time', 'server', try_cast(headers ->> '$.x-queue-time' AS DOUBLE), NULL, NULL,
        try_cast(headers ->> '$.x-inference-time' AS DOUBLE), try_cast(headers ->> '$.x-total-time' AS DOUBLE), NULL
    FROM statements WHERE (headers ->> '$.x-queue-time') IS NOT NULL
    UNION ALL
    SELECT sample_uuid, name, 'gateway', NULL, NULL, NULL, NULL, NULL, try_cast(headers ->> ('$.' || name) AS DOUBLE)
    FROM statements, (
        SELECT unnest([
            'openai-processing-ms', 'x-envoy-upstream-service-time', 'x-kong-upstream-latency', 'x-litellm-response-duration-ms'
        ]) AS name
    )
    WHERE (headers ->> ('$.' || name)) IS NOT NULL
)

SELECT
    sample_uuid,
    measured AND status = 'completed' AS counts,
    source,
    clock,
    queue_ms,
    prefill_ms,
    coalesce(first_token_ms, coalesce(queue_ms, 0) + prefill_ms) AS ttft_ms,
    stated.decode_ms,
    whole_ms AS latency_ms,
    head_ms,
    (first_token_ns - sent_ns) / 1e6 AS client_ttft_ms,
    (last_token_ns - first_token_ns) / 1e6 AS client_decode_ms,
    (ended_ns - sent_ns) / 1e6 AS client_latency_ms,
    (first_byte_ns - sent_ns) / 1e6 AS client_head_ms
FROM stated JOIN requests USING (sample_uuid);
