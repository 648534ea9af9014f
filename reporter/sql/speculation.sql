-- One row a request whose response states the outcome of the draft tokens of speculative decoding, by the server's count.
-- `steps` are verifications; element i + 1 of `histogram` is how many of them accepted i tokens.
CREATE VIEW speculation AS
WITH statements AS (
    SELECT
        *,
        coalesce(
            server -> '$.metrics.speculative_decoding', server -> '$.speculative_decoding_stats', server -> '$.speculative_decoding'
        ) AS openai,
        coalesce(server -> '$.sglext.spec_tokens_details', server -> '$.meta_info') AS sglang,
        server -> '$.timings' AS llama,
        server -> '$.completion_tokens_details' AS usage
    FROM requests
    WHERE server IS NOT NULL
),

stated AS (
    SELECT
        sample_uuid,
        CASE
            WHEN (server -> '$.metrics.speculative_decoding') IS NOT NULL THEN 'metrics.speculative_decoding'
            WHEN (server -> '$.speculative_decoding_stats') IS NOT NULL THEN 'speculative_decoding_stats'
            ELSE 'speculative_decoding'
        END AS source,
        (openai ->> '$.num_spec_steps')::BIGINT AS steps,
        coalesce(openai ->> '$.num_draft_tokens', openai ->> '$.total_draft_tokens')::BIGINT AS drafted,
        coalesce(openai ->> '$.num_accepted_draft_tokens', openai ->> '$.total_accepted_draft_tokens')::BIGINT AS accepted,
        (openai -> '$.acceptance_histogram')::BIGINT[] AS histogram,
        (openai ->> '$.mean_acceptance_length')::DOUBLE AS stated_length,
        (openai ->> '$.num_spec_tokens')::BIGINT AS draft_length
    FROM statements WHERE openai IS NOT NULL
    UNION ALL
    SELECT
        sample_uuid,
        if((server -> '$.sglext.spec_tokens_details') IS NOT NULL, 'sglext.spec_tokens_details', 'meta_info'),
        (sglang ->> '$.spec_verify_ct')::BIGINT,
        coalesce(
            sglang ->> '$.spec_num_proposed_drafts', sglang ->> '$.spec_proposed_drafts', sglang ->> '$.spec_draft_token_num'
        )::BIGINT,
        coalesce(
            sglang ->> '$.spec_num_correct_drafts', sglang ->> '$.spec_accepted_drafts', sglang ->> '$.spec_accept_token_num'
        )::BIGINT,
        coalesce(sglang -> '$.spec_correct_drafts_histogram', sglang -> '$.spec_accept_histogram')::BIGINT[],
        (sglang ->> '$.spec_accept_length')::DOUBLE,
        NULL
    FROM statements WHERE (sglang ->> '$.spec_verify_ct')::BIGINT > 0
    UNION ALL
    SELECT
        sample_uuid, 'timings', (llama ->> '$.predicted_n')::BIGINT - (llama ->> '$.draft_n_accepted')::BIGINT,
        (llama ->> '$.draft_n')::BIGINT, (llama ->> '$.draft_n_accepted')::BIGINT, NULL, NULL, NULL
    FROM statements WHERE (llama ->> '$.draft_n')::BIGINT > 0
    UNION ALL
    SELECT
        sample_uuid, 'usage', NULL,
        (usage ->> '$.accepted_prediction_tokens')::BIGINT + (usage ->> '$.rejected_prediction_tokens')::BIGINT,
        (usage ->> '$.accepted_prediction_tokens')::BIGINT, NULL, NULL, NULL
    FROM statements WHERE usage IS NOT NULL
)

SELECT
    sample_uuid,
    -- Of several statements on a request, that which says most.
    measured AND status = 'completed'
    AND row_number() OVER (PARTITION BY sample_uuid ORDER BY histogram IS NULL, steps IS NULL) = 1 AS counts,
    source,
    steps,
    drafted,
    accepted,
    1 + accepted / nullif(steps, 0) AS acceptance_length,
    accepted / nullif(drafted, 0) AS acceptance_rate,
    histogram,
    stated_length,
    draft_length,
    input_tokens,
    output_tokens,
    concat_ws(
        ', ',
        CASE WHEN list_sum(histogram) <> steps THEN 'histogram <> steps' END,
        CASE
            WHEN list_sum(list_transform(histogram, lambda count, place: count * (place - 1))) <> accepted
            THEN 'histogram <> accepted'
        END,
        CASE WHEN accepted > drafted THEN 'accepted > drafted' END,
        -- Servers round the length that they state.
        CASE WHEN abs(stated_length - (1 + accepted / nullif(steps, 0))) > 0.01 THEN 'length <> 1 + accepted / steps' END
    ) AS contradictions
FROM stated JOIN requests USING (sample_uuid);
