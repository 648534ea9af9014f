-- One row a prompt that was issued; prompt is its text, for a chat the contents of its messages, a line each.
CREATE TABLE prompts AS
SELECT DISTINCT ON (prompt_id)
    (nullif(data::VARCHAR, '')::JSON ->> '$.prompt_id')::BIGINT AS prompt_id,
    coalesce(texts.prompt, array_to_string(texts.messages ->> '$[*].content', chr(10))) AS prompt,
    texts.messages AS messages
FROM (
    SELECT data, from_json(texts::VARCHAR, '{"prompt": "VARCHAR", "messages": "JSON"}') AS texts
    FROM stream
);
