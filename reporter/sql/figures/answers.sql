-- One row an answer that can be judged (reporter/stored_answers.py): where the log has it, what was asked, what it is held
-- against and what judges said of it; and by which scorers the pass `$pass_number` has judged it.
WITH prompt_rows AS (
    SELECT
        asked.sample_uuid,
        list(prompt_events.seq ORDER BY prompt_events.turn) AS prompt_seqs
    FROM asked
    JOIN prompt_events
        ON prompt_events.prompt_id = asked.prompt_id AND prompt_events.turn <= coalesce(asked.turn, 0)
    WHERE unscored IS NULL
    GROUP BY asked.sample_uuid
),

earlier AS (
    SELECT asked.sample_uuid, list(requests.ended_seq ORDER BY requests.turn) AS earlier_seqs
    FROM asked JOIN requests ON requests.conversation_id = asked.conversation_id AND requests.turn < asked.turn
    WHERE requests.measured
    GROUP BY asked.sample_uuid
),

done AS (
    SELECT sample_uuid, list(scorer) AS done FROM scored WHERE pass = $pass_number GROUP BY sample_uuid
),

judged AS (
    SELECT
        judged_uuid AS sample_uuid,
        list({
            'scorer': scorer,
            'inquiry': inquiry,
            'version': judge_version,
            'model': model,
            'sampling': sampling,
            'seq': ended_seq
        } ORDER BY ended_seq) AS judged
    FROM judge_calls
    WHERE status = 'completed'
    GROUP BY judged_uuid
),

unjudged AS (
    SELECT judged_uuid AS sample_uuid, arg_max(error, issued_ns) AS judge_failure
    FROM judge_calls
    WHERE status = 'failed'
    GROUP BY judged_uuid
)

SELECT
    asked.sample_uuid,
    questions.task,
    questions.question_id,
    questions.seq AS question_seq,
    coalesce(prompt_rows.prompt_seqs, []) AS prompt_seqs,
    coalesce(earlier.earlier_seqs, []) AS earlier_seqs,
    asked.ended_seq,
    asked.episode_seq,
    episode_ends.ending,
    episode_ends.reward,
    asked.finish_reason,
    coalesce(done.done, []) AS done,
    coalesce(judged.judged, []) AS judged,
    judge_failure
FROM asked
JOIN questions USING (prompt_id)
LEFT JOIN episode_ends ON episode_ends.seq = asked.episode_seq
LEFT JOIN prompt_rows USING (sample_uuid)
LEFT JOIN earlier USING (sample_uuid)
LEFT JOIN done USING (sample_uuid)
LEFT JOIN judged USING (sample_uuid)
LEFT JOIN unjudged USING (sample_uuid)
WHERE unscored IS NULL
ORDER BY asked.ended_seq;
