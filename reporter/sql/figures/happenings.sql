-- What happened in each span of time, of all requests, warm-up included; span_of stands for the macro that numbers the
-- spans (reporter/windows/spans.py).
-- The tokens of a response arrive with its chunks, in equal parts; without chunks they arrive when it is complete.
-- Parts of tokens are added up in billionths: sums of whole numbers are the same in any order.
WITH answers AS NOT MATERIALIZED (
    SELECT
        sent_ns,
        chunk_gaps_us,
        arrived_output AS output_tokens,
        coalesce(last_token_ns, ended_ns) AS last_ns,
        -- Gaps are added up only where that decides.
        CASE
            WHEN span_of(first_token_ns) IS DISTINCT FROM span_of(last_token_ns)
            THEN coalesce(list_sum(chunk_gaps_us) > 0, false)
            ELSE false
        END AS spread
    FROM arriving
)

SELECT
    span,
    coalesce(sum(scheduled), 0)::BIGINT AS scheduled,
    coalesce(sum(issued), 0)::BIGINT AS issued,
    coalesce(sum(completed), 0)::BIGINT AS completed,
    coalesce(sum(failed), 0)::BIGINT AS failed,
    coalesce(sum(cancelled), 0)::BIGINT AS cancelled,
    coalesce(sum(ended), 0)::BIGINT AS ended,
    coalesce(sum(output_nanotokens), 0)::DOUBLE / 1e9 AS output_tokens
FROM (
    SELECT span_of(scheduled_ns) AS span, count(*) AS scheduled FROM requests GROUP BY span

    UNION ALL BY NAME

    SELECT span_of(issued_ns) AS span, count(*) AS issued FROM requests GROUP BY span

    UNION ALL BY NAME

    SELECT
        span_of(ended_ns) AS span,
        count(*) AS ended,
        count(*) FILTER (status = 'completed') AS completed,
        count(*) FILTER (status = 'failed') AS failed,
        count(*) FILTER (status = 'cancelled') AS cancelled
    FROM requests
    GROUP BY span

    UNION ALL BY NAME

    SELECT span_of(last_ns) AS span, sum(1_000_000_000 * output_tokens::HUGEINT) AS output_nanotokens
    FROM answers
    WHERE NOT spread
    GROUP BY span

    UNION ALL BY NAME

    -- The time since a request was sent is a running sum of its gaps: one sum over all responses, for behind its gaps each
    -- has what brings the sum back to 0. Nothing is sorted, which would take most of the time of a report: the sum is
    -- over rows as they come, response after response, and only the chunks of one have to come in their order.
    SELECT span_of(at_ns) AS span, sum(share) AS output_nanotokens
    FROM (
        SELECT share, gap_us, sent_ns + 1000 * sum(gap_us) OVER (ROWS UNBOUNDED PRECEDING)::BIGINT AS at_ns
        FROM (
            SELECT
                sent_ns,
                round(1e9 * output_tokens / len(chunk_gaps_us))::HUGEINT AS share,
                unnest(list_append(chunk_gaps_us::BIGINT[], -list_sum(chunk_gaps_us)::BIGINT)) AS gap_us
            FROM answers
            WHERE spread
        )
    )
    WHERE gap_us >= 0
    GROUP BY span
)
WHERE span IS NOT NULL
GROUP BY span
ORDER BY span;
