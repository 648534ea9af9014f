-- One row a question of a benchmark: which prompt asks it. Should it be there twice, the earlier one counts.
CREATE TABLE questions AS
SELECT DISTINCT ON (prompt_id)
    prompt_id,
    task,
    id AS question_id,
    coalesce(tags, MAP {}) AS tags,
    coalesce(empty_is_answer, false) AS empty_is_answer,
    seq
FROM (
    SELECT seq, unnest(from_json(nullif(data::VARCHAR, ''), columns_of(Question)))
    FROM stream
)
WHERE prompt_id IS NOT NULL
ORDER BY prompt_id, seq;
