-- One row a request of which tokens arrived: completed, or cut by the client. A cut answer without a count has as many tokens
-- a chunk as the completed ones, and a prompt as long. MLPerf's windows have completed answers alone.
CREATE VIEW arriving AS
SELECT
    counted.*,
    CASE
        WHEN status = 'completed' OR token_source IN ('server_usage', 'client_tokenizer') THEN counted_output
        ELSE chunks * tokens_per_chunk
    END AS arrived_output,
    CASE WHEN status = 'completed' OR counted_input IS NOT NULL THEN counted_input ELSE mean_input END AS arrived_input
FROM counted, (
    SELECT
        coalesce(sum(output_tokens) FILTER (chunks > 0 AND output_tokens > 0)
            / sum(chunks) FILTER (chunks > 0 AND output_tokens > 0), 1) AS tokens_per_chunk,
        avg(input_tokens)::BIGINT AS mean_input
    FROM recounted
    WHERE measured AND status = 'completed'
)
WHERE
    status = 'completed' OR (
        status IN ('cancelled', 'left') AND chunks > 0
        AND (SELECT count(*) FILTER (kind IN ('last_issued_done', 'tracked')) = 0 FROM windows)
    );
