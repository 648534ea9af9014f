"""The query of results per episode; see `reporter.sample_results`."""

from __future__ import annotations

from typing import Final

EPISODES: Final = """
    {judged},

    played AS (
        SELECT
            conversation_id,
            any_value(prompt_id) AS prompt_id,
            arg_max(sample_uuid, turn) AS sample_uuid,
            min(issued_ns) AS first_issued_ns,
            any_value(tags) AS tags,
            sum(cached_tokens) AS cached_tokens,
            sum(reasoning_tokens) AS reasoning_tokens
        FROM samples
        WHERE measured AND status <> 'abandoned' AND conversation_id IN (
            SELECT conversation_id FROM requests WHERE is_episode
        )
        GROUP BY conversation_id
    )

    SELECT
        played.conversation_id,
        played.prompt_id,
        questions.task,
        questions.question_id,
        asked.attempt,
        coalesce(to_json(questions.tags), played.tags::JSON) AS tags,
        coalesce(episodes.ending, 'none') AS ending,
        episodes.reason AS ending_reason,
        wall_time(coalesce(episodes.started_ns, first_issued_ns)) AS started_at_utc,
        {texts}
        judged.first.scorer AS scorer,
        judged.first.value AS score,
        judged.first.passed AS passed,
        judged.first.status AS score_status,
        judged.first.extracted AS extracted,
        judged.first.reason AS reason,
        judged.scores AS scores,
        episodes.reward,
        episodes.turns,
        episodes.user_turns,
        episodes.tool_calls,
        episodes.failed_tool_calls,
        episodes.input_tokens,
        episodes.output_tokens,
        played.reasoning_tokens,
        played.cached_tokens,
        episodes.duration_ms,
        episodes.waited_ms,
        episodes.setup_ms,
        episodes.wall_ms,
        episodes.model_ms,
        episodes.user_ms,
        episodes.tool_ms,
        episodes.own_ms,
        episodes.finish_ms
    FROM played
    LEFT JOIN episodes USING (conversation_id)
    LEFT JOIN questions ON questions.prompt_id = played.prompt_id
    LEFT JOIN asked ON asked.sample_uuid = played.sample_uuid
    LEFT JOIN judged ON judged.sample_uuid = played.sample_uuid
    {joins}"""

TEXTS: Final = """
        prompts.prompt AS prompt,
        outputs.output AS output,
        question_references.reference AS reference,"""

JOINS: Final = """
    LEFT JOIN prompts ON prompts.prompt_id = played.prompt_id AND prompts.turn = 0
    LEFT JOIN outputs ON outputs.sample_uuid = played.sample_uuid
    LEFT JOIN question_references ON question_references.prompt_id = played.prompt_id"""
