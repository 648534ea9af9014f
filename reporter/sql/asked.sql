-- One row an answer that was asked for: a measured request of a benchmark's question, of a conversation its last one.
-- `unscored` is the status of a score without an answer to judge, and `replaced_ns` when a request that a later segment
-- asked again was asked again.
CREATE TABLE answers AS
WITH ends_of_conversations AS (
    SELECT conversation_id, max(turn) AS turn FROM requests WHERE measured AND conversation_id IS NOT NULL GROUP BY ALL
)

SELECT
    sample_uuid,
    counted.prompt_id,
    conversation_id,
    turn,
    segment,
    status = 'abandoned' AS is_abandoned,
    issued_ns,
    ended_seq,
    CASE
        -- An episode is answered when its code has ended, whatever its last turn was; one that failed is wrong.
        WHEN is_episode AND coalesce(ending, 'cut') = 'cut' AND error IS DISTINCT FROM 'agent_error' THEN 'infra_error'
        -- Neither the sandbox nor the simulated user is what is judged.
        WHEN is_episode AND ending IN ('sandbox_error', 'user_failed') THEN 'infra_error'
        WHEN is_episode AND (error IS NOT DISTINCT FROM 'agent_error' OR ending IN ('failed', 'agent_error')) THEN 'missing'
        WHEN is_episode THEN NULL
        WHEN status = 'completed' AND coalesce(turn + 1 >= turns, true) THEN NULL
        -- The response is complete and says why it ended, and the benchmark's rule judges an answer of no words.
        WHEN
            error IN ('empty_answer', 'empty_response')
            AND finish_reason IS NOT NULL
            AND coalesce(turn + 1 >= turns, true)
            AND empty_is_answer
            THEN NULL
        WHEN status = 'failed' AND error NOT IN ('worker_lost', 'client_bug') THEN 'missing'
        ELSE 'infra_error'
    END AS unscored,
    CASE WHEN unscored IS NOT NULL THEN
        CASE
            WHEN is_episode AND ending IS NOT NULL THEN concat_ws(': ', ending, episode_ends.reason)
            WHEN status = 'completed' THEN 'the conversation was cut off'
            ELSE coalesce(error, status)
        END
    END AS reason,
    counted_output AS output_tokens,
    counted_input AS input_tokens,
    finish_reason,
    episode_ends.seq AS episode_seq
FROM counted
LEFT JOIN episode_ends USING (conversation_id)
JOIN (SELECT prompt_id, empty_is_answer FROM questions) AS asking ON asking.prompt_id = counted.prompt_id
WHERE
    measured
    AND (conversation_id IS NULL OR (conversation_id, turn) IN (FROM ends_of_conversations));

CREATE TABLE replaced AS
WITH abandoned AS (
    SELECT *, row_number() OVER (PARTITION BY prompt_id, segment ORDER BY issued_ns) AS number
    FROM answers
    WHERE is_abandoned
)

SELECT abandoned.sample_uuid, list(later.issued_ns ORDER BY later.issued_ns)[any_value(abandoned.number)] AS replaced_ns
FROM abandoned
JOIN answers AS later
    ON
        later.prompt_id = abandoned.prompt_id
        AND later.segment > abandoned.segment
        AND NOT later.is_abandoned
GROUP BY abandoned.sample_uuid;

-- A view, for it takes long to number attempts, and hardly anybody reads it.
CREATE VIEW asked AS
SELECT
    answers.* EXCLUDE (segment, is_abandoned),
    replaced_ns,
    row_number() OVER (PARTITION BY prompt_id ORDER BY replaced_ns IS NOT NULL, issued_ns, sample_uuid) AS attempt
FROM answers
LEFT JOIN replaced USING (sample_uuid);
