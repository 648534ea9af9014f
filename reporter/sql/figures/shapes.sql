-- What was unusual about the responses of the measured requests that completed (reporter/findings/findings.py).
SELECT
    count(*) FILTER (silent_chunks > 0 AND silent_tokens) AS silent_as_tokens,
    count(*) FILTER (silent_chunks > 0 AND NOT silent_tokens) AS silent_as_none,
    coalesce(sum(silent_chunks), 0)::BIGINT AS silent_chunks,
    count(*) FILTER (stream = false) AS unstreamed,
    -- A part of a tool call may come without its own token.
    count(*) FILTER (output_tokens + 1 < 0.9 * chunks) AS contradicted,
    count(unended) AS unended,
    -- A server that sends another reason each time has no end of them.
    (
        SELECT map_from_entries(list((finish_reason, answers))) FROM (
            SELECT finish_reason, count(*) AS answers
            FROM requests
            WHERE measured AND status = 'completed' AND finish_reason IS NOT NULL
            GROUP BY finish_reason
            ORDER BY answers DESC, finish_reason
            LIMIT 100
        )
    ) AS finish_reasons,
    (
        SELECT map_from_entries(list((deviation, responses))) FROM (
            SELECT deviation, count(*) AS responses
            FROM (
                SELECT unnest(string_split(deviations, ', ')) AS deviation
                FROM requests
                WHERE measured AND status = 'completed'
            )
            GROUP BY deviation
            ORDER BY responses DESC, deviation
            LIMIT 100
        )
    ) AS deviations,
    count(*) FILTER (tagged_chars > 0) AS tagged,
    count(*) FILTER (content_chars <= tagged_chars AND call_chars = 0) AS reasoning_only,
    -- Each is logged with the request that was sent next, whatever phase and end that had.
    (SELECT coalesce(sum(unasked), 0)::BIGINT FROM requests) AS unasked
FROM requests
WHERE measured AND status = 'completed';
