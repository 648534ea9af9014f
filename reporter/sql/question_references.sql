-- One row a question of a benchmark: what its answers are scored against. Should it be there twice, the earlier counts.
CREATE TABLE question_references AS
SELECT DISTINCT ON (prompt_id) prompt_id, reference
FROM (
    SELECT
        seq,
        (nullif(data::VARCHAR, '')::JSON ->> '$.prompt_id')::BIGINT AS prompt_id,
        nullif(texts::VARCHAR, '')::JSON -> '$.reference' AS reference
    FROM stream
)
WHERE prompt_id IS NOT NULL
ORDER BY prompt_id, seq;
