-- One row an answer that was asked for, a scoring pass, and a scorer of it: also where nothing came that could be scored.
CREATE VIEW scores AS
SELECT
    passes.pass,
    passes.task,
    passes.scorer,
    asked.sample_uuid,
    asked.prompt_id,
    questions.question_id,
    asked.attempt,
    CASE WHEN unscored IS NULL THEN scored.value WHEN unscored = 'missing' THEN 0 END AS value,
    coalesce(unscored, scored.status, 'infra_error') AS status,
    scored.extracted,
    CASE
        WHEN unscored IS NOT NULL THEN asked.reason
        WHEN scored.status IS NULL THEN 'not scored yet'
        ELSE scored.reason
    END AS reason,
    coalesce(scored.metrics::MAP(VARCHAR, DOUBLE), MAP {}) AS metrics,
    coalesce(scored.details::MAP(VARCHAR, VARCHAR), MAP {}) AS details,
    questions.tags,
    asked.output_tokens,
    asked.input_tokens,
    coalesce(is_cut(finish_reason), false) AS truncated,
    coalesce(lower(split_part(finish_reason, ':', 1)) IN AnswerEnding.FILTERED, false) AS refused
FROM passes
JOIN questions USING (task)
JOIN asked ON asked.prompt_id = questions.prompt_id
LEFT JOIN scored
    ON
        scored.pass = passes.pass
        AND scored.scorer = passes.scorer
        AND scored.sample_uuid = asked.sample_uuid
WHERE asked.issued_ns < passes.started_ns AND coalesce(replaced_ns >= passes.started_ns, true);
