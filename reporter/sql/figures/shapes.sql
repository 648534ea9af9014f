-- What was unusual about the responses of the measured requests that completed (reporter/findings/findings.py).
SELECT
    count(*) FILTER (silent_chunks > 0 AND silent_tokens) AS silent_as_tokens,
    count(*) FILTER (silent_chunks > 0 AND NOT silent_tokens) AS silent_as_none,
    coalesce(sum(silent_chunks), 0)::BIGINT AS silent_chunks,
    count(*) FILTER (stream = false) AS unstreamed,
    -- A part of a tool call may come without a token of its own.
    count(*) FILTER (output_tokens + 1 < 0.9 * chunks) AS contradicted,
    count(unended) AS unended,
    -- Each is logged with the request that was sent next, whatever phase and end that had.
    (SELECT coalesce(sum(unasked), 0)::BIGINT FROM requests) AS unasked
FROM requests
WHERE measured AND status = 'completed';
