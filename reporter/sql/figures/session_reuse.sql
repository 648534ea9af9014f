-- One row a range of turns of streams: of the measured requests whose prompts have a count of cached tokens, what earlier
-- requests of the session had of the prompts, and what of that was cached.
SELECT
    floor(2 ** (ceil(log2(stream_turn)) - 1))::BIGINT + 1 AS from_turn,
    max(stream_turn)::BIGINT AS to_turn,
    count(*)::BIGINT AS count,
    avg(input_tokens) AS input_tokens_mean,
    avg(reusable_tokens) AS reusable_tokens_mean,
    avg(cached_tokens) AS cached_tokens_mean,
    sum(least(cached_tokens, reusable_tokens)) / nullif(sum(reusable_tokens), 0) AS reused_rate
FROM session_turns
WHERE measured AND status = 'completed' AND cached_tokens IS NOT NULL AND reusable_tokens IS NOT NULL
GROUP BY from_turn
ORDER BY from_turn;
