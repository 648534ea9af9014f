-- One row a request, as the log has it; the view `samples` adds what follows from it. Keys of payloads that it does not name
-- are columns as they are.
-- `measured`: issued for the performance phase; one that went out late counts like the others.
-- `settled`: it ended, and was not ended by the client; those that were not settled, a further segment asks again. A conversation is
-- asked again as a whole: all of it is settled, by a result of its last turn or by a turn that failed, or nothing. So is
-- an episode, which is settled when its code has ended, unless the session cut it, and a session tree with an end.
-- Logs of older versions have the limit of each request only here. A variable is a constant of a query, and not joined.
SET VARIABLE limit_of_session = (SELECT try_cast(settings ->> '$.max_tokens' AS BIGINT) FROM session);

CREATE TABLE requests AS
SELECT
    coalesce(max_tokens, getvariable('limit_of_session')) AS limit_of_request,
    -- The server's counts, as far as they can be true.
    is_output_count(output_tokens, reasoning_tokens, bytes, limit_of_request)
    AND is_within_limit(
        output_tokens,
        reasoning_tokens,
        limit_of_request,
        choices,
        greatest(chunks, content_chars + coalesce(reasoning_chars, 0) + coalesce(call_chars, 0))
    ) AS output_is_count,
    * EXCLUDE (code, conversation, endpoint, episode, max_tokens, first_chunk_ns, message, reason) REPLACE (
        coalesce(role, if(phase = 'judge', 'judge', 'model')) AS role,
        CASE
            WHEN code = EventType.COMPLETE THEN 'completed'
            WHEN code = EventType.ERROR THEN 'failed'
            WHEN code = EventType.CANCELLED THEN if(payloads.reason = 'abandoned', 'left', 'cancelled')
            ELSE 'in_flight'
        END AS status,
        CASE code WHEN EventType.ERROR THEN coalesce(error, 'unknown') END AS error,
        coalesce(first_token_ns, first_chunk_ns) AS first_token_ns,
        -- What is in doubt lies between these moments (see docs/log.md); what is exact has both ends in common.
        coalesce(sent_high_ns, sent_ns) AS sent_high_ns,
        coalesce(first_byte_low_ns, first_byte_ns) AS first_byte_low_ns,
        coalesce(first_token_low_ns, payloads.first_token_ns, first_chunk_ns) AS first_token_low_ns,
        coalesce(first_output_low_ns, first_output_ns) AS first_output_low_ns,
        coalesce(first_visible_low_ns, first_visible_ns) AS first_visible_low_ns,
        coalesce(last_token_low_ns, last_token_ns) AS last_token_low_ns,
        coalesce(retried, false) AS retried,
        coalesce(unasked, 0) AS unasked,
        CASE WHEN is_count(input_tokens) THEN input_tokens END AS input_tokens,
        CASE WHEN output_is_count THEN output_tokens END AS output_tokens,
        CASE WHEN is_count(reasoning_tokens) THEN reasoning_tokens END AS reasoning_tokens,
        CASE WHEN is_count(cached_tokens) THEN cached_tokens END AS cached_tokens,
        CASE WHEN is_count(total_tokens) THEN total_tokens END AS total_tokens,
        coalesce(reasoning_added, false) AS reasoning_added,
        coalesce(choices, 1) AS choices,
        CASE WHEN is_count(other_chunks) THEN other_chunks END AS other_chunks,
        -- Characters of the answer's parts; older logs have none of the three.
        CASE WHEN is_count(content_chars) THEN content_chars END AS content_chars,
        CASE WHEN content_chars IS NOT NULL THEN if(is_count(reasoning_chars), reasoning_chars, 0) END AS reasoning_chars,
        CASE WHEN content_chars IS NOT NULL THEN if(is_count(call_chars), call_chars, 0) END AS call_chars,
        CASE WHEN content_chars IS NOT NULL THEN if(is_count(tagged_chars), tagged_chars, 0) END AS tagged_chars,
        CASE WHEN is_count(chunks) THEN chunks END AS chunks,
        CASE WHEN is_count(silent_chunks) THEN silent_chunks END AS silent_chunks
    ),
    conversation AS conversation_id,
    endpoint AS endpoint_index,
    coalesce(episode, false) AS is_episode,
    coalesce(phase = 'performance', false) AS measured,
    (coalesce(payloads.code, EventType.CANCELLED) <> EventType.CANCELLED OR coalesce(payloads.reason = 'abandoned', false))
    AND coalesce(payloads.error NOT IN ('worker_lost', 'client_bug'), true) AS settled,
    coalesce(message, reason) AS error_message,
    payloads.status AS http_status,
    CASE
        WHEN NOT (is_count(payloads.input_tokens) IS NOT false AND output_is_count IS NOT false
            AND is_count(payloads.reasoning_tokens) IS NOT false AND is_count(payloads.cached_tokens) IS NOT false)
        THEN to_json(map_from_entries(list_filter([
            ('output_tokens', if(output_is_count, NULL, payloads.output_tokens)),
            ('input_tokens', if(is_count(payloads.input_tokens), NULL, payloads.input_tokens)),
            ('reasoning_tokens', if(is_count(payloads.reasoning_tokens), NULL, payloads.reasoning_tokens)),
            ('cached_tokens', if(is_count(payloads.cached_tokens), NULL, payloads.cached_tokens))
        ], lambda refused: refused[2] IS NOT NULL)))
    END AS refused_tokens
FROM joined() AS payloads;
