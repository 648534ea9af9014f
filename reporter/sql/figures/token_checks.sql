-- Whether the server's counts of the measured requests that completed add up, and go with the text that they are of
-- (reporter/findings/token_checks.py). Of several choices the log has the text of one.
WITH checked AS (
    SELECT
        *,
        content_chars + reasoning_chars + call_chars AS characters,
        CASE WHEN choices = 1 THEN output_tokens END AS answer_tokens,
        total_tokens <> input_tokens + output_tokens OR (reasoning_tokens > output_tokens) AS is_unequal,
        CASE WHEN chunks > 1 AND token_source = 'server_usage' THEN chunks END AS paced_chunks
    FROM counted
    WHERE measured AND status = 'completed'
)

SELECT
    count(*) FILTER (choices > 1) AS several_choices,
    count(*) FILTER (reasoning_added) AS reasoning_added,
    count(*) FILTER (is_unequal) AS unequal,
    any_value(CASE WHEN is_unequal THEN {
        'input': input_tokens, 'output': output_tokens, 'reasoning': reasoning_tokens, 'total': total_tokens
    } END) AS unequal_example,
    count(*) FILTER (answer_tokens > 0 AND characters > 0) AS compared,
    -- Ten characters a token are more than any text has, and four tokens a character, but for what a few have by chance.
    count(*) FILTER (answer_tokens > 0 AND characters > 64 + 10 * answer_tokens) AS too_few,
    any_value(CASE WHEN answer_tokens > 0 AND characters > 64 + 10 * answer_tokens
        THEN {'tokens': answer_tokens, 'characters': characters} END) AS too_few_example,
    count(*) FILTER (choices = 1 AND NOT holds_back IS true AND counted_shown > 16 + 4 * characters) AS too_many,
    any_value(CASE WHEN choices = 1 AND NOT holds_back IS true AND counted_shown > 16 + 4 * characters
        THEN {'tokens': counted_shown, 'characters': characters} END) AS too_many_example,
    sum(reasoning_tokens) FILTER (reasoning_chars > 0) AS reasoning_reported,
    sum(coalesce(reasoning_tokens, 0)) FILTER (reasoning_chars > 0 AND answer_tokens > 0)::BIGINT AS reasoning_tokens,
    sum(answer_tokens) FILTER (reasoning_chars > 0 AND answer_tokens > 0)::BIGINT AS output_tokens,
    sum(reasoning_chars) FILTER (reasoning_chars > 0 AND answer_tokens > 0)::BIGINT AS reasoning_chars,
    sum(characters) FILTER (reasoning_chars > 0 AND answer_tokens > 0)::BIGINT AS characters,
    sum(counted_shown) FILTER (paced_chunks IS NOT NULL)::BIGINT AS paced_tokens,
    sum(paced_chunks)::BIGINT AS paced_chunks,
    count(*) FILTER (holds_back) AS held_back,
    count(*) FILTER (holds_back AND counted_seen IS NULL) AS held_back_unknown
FROM checked;
