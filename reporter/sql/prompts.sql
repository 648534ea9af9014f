-- One row a prompt that was issued, of a conversation one a turn; prompt is its text, for a chat the contents of its
-- messages, a line each. Of a turn after the first it is what the turn adds.
CREATE TABLE prompts AS
SELECT DISTINCT ON (prompt_id, turn)
    (nullif(data::VARCHAR, '')::JSON ->> '$.prompt_id')::BIGINT AS prompt_id,
    coalesce((nullif(data::VARCHAR, '')::JSON ->> '$.turn')::BIGINT, 0) AS turn,
    coalesce(
        texts.prompt,
        array_to_string(texts.messages ->> '$[*].content', chr(10)),
        -- A query is read with each of its documents.
        array_to_string([concat_ws(chr(10), texts.query, each) FOR each IN texts.inputs ->> '$[*]'], chr(10))
    ) AS prompt,
    texts.messages AS messages,
    texts.tools AS tools,
    texts.token_ids AS token_ids,
    texts.inputs AS inputs,
    texts.query AS query,
    texts.expected AS expected
FROM (
    SELECT data, from_json(texts::VARCHAR, columns_of(PromptTexts)) AS texts
    FROM stream
);
