-- One row a request of a session of several turns: of a tree, or of a conversation, whose turns wait for the one before.
-- `waited_for` is the turn whose end was the last of those that it waited for, `join_wait_ms` how long the turn before in its
-- stream had ended by then, `eligible_tokens` what a cache without bound has of the prompt and the answer that its prompt extends,
-- `reusable_tokens` what of the prompt a cache without bound has from the session: by the recorded blocks, else by what it extends.
CREATE TABLE session_turns AS
WITH turns AS (
    SELECT
        conversation_id,
        turn,
        coalesce(session, conversation_id) AS session_id,
        samples.sample_uuid,
        samples.prompt_id,
        phase,
        measured,
        status,
        error,
        coalesce(stream, 0) AS stream,
        coalesce(depth, 0) AS depth,
        agent,
        row_number() OVER stream_so_far AS stream_turn,
        coalesce(after, if(turn > 0, [turn - 1], [])) AS after,
        if(session IS NULL AND turn > 0, turn - 1, extends) AS extends,
        scheduled_ns,
        issued_ns,
        sent_ns,
        first_token_ns,
        ended_ns,
        ttft_ms,
        latency_ms,
        delay_ms,
        tool_ms,
        samples.input_tokens,
        samples.output_tokens,
        cached_tokens,
        prefix_tokens,
        block_tokens,
        start_ms AS recorded_start_ms,
        end_ms AS recorded_end_ms,
        tree_turns.input_tokens AS recorded_input_tokens,
        tree_turns.output_tokens AS recorded_output_tokens,
        moved_ms,
        lag(ended_ns) OVER stream_so_far AS own_ready_ns
    FROM samples LEFT JOIN tree_turns USING (sample_uuid)
    WHERE
        conversation_id IS NOT NULL
        AND turn IS NOT NULL
        AND status <> 'abandoned'
        AND conversation_id NOT IN (SELECT conversation_id FROM requests WHERE is_episode AND conversation_id IS NOT NULL)
    WINDOW stream_so_far AS (PARTITION BY conversation_id, coalesce(stream, 0) ORDER BY turn)
    -- A warm-up can ask turns of a session that is measured.
    QUALIFY measured OR NOT bool_or(measured) OVER (PARTITION BY conversation_id)
),

ready AS (
    SELECT
        later.conversation_id,
        later.turn,
        max(before.ended_ns) AS ready_ns,
        arg_max(before.turn, before.ended_ns) AS waited_for
    FROM (SELECT conversation_id, turn, stream, unnest(after) AS before FROM turns) AS later
    JOIN turns AS before ON before.conversation_id = later.conversation_id AND before.turn = later.before
    GROUP BY ALL
)

SELECT
    turns.*,
    waited_for,
    ready_ns,
    (turns.issued_ns - ready_ns) / 1e6 AS waited_ms,
    greatest(ready_ns - turns.own_ready_ns, 0) / 1e6 AS join_wait_ms,
    base.input_tokens + base.output_tokens AS eligible_tokens,
    CASE
        WHEN turns.prefix_tokens IS NOT NULL THEN turns.prefix_tokens * least(turns.input_tokens / turns.recorded_input_tokens, 1)
        WHEN turns.extends IS NULL THEN 0
        WHEN base.input_tokens IS NOT NULL THEN least(base.input_tokens + base.output_tokens, turns.input_tokens)
    END AS reusable_tokens
FROM turns
LEFT JOIN ready USING (conversation_id, turn)
LEFT JOIN turns AS base ON base.conversation_id = turns.conversation_id AND base.turn = turns.extends;
