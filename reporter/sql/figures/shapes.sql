-- What was unusual about the responses of the measured requests that completed (reporter/findings.py).
SELECT
    count(*) FILTER (silent_chunks > 0 AND silent_tokens) AS silent_as_tokens,
    count(*) FILTER (silent_chunks > 0 AND NOT silent_tokens) AS silent_as_none,
    coalesce(sum(silent_chunks), 0) AS silent_chunks,
    count(*) FILTER (stream = false) AS unstreamed,
    -- A part of a tool call may come without a token of its own.
    count(*) FILTER (output_tokens + 1 < 0.9 * chunks) AS contradicted
FROM requests
WHERE measured AND status = 'completed';
