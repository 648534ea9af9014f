-- Where the log has the text of a prompt: of a conversation, of each turn what it adds.
CREATE TABLE prompt_events AS
SELECT prompt_id, coalesce(turn, 0) AS turn, min(seq) AS seq
FROM (
    SELECT seq, unnest(from_json(nullif(data::VARCHAR, ''), columns_of(Issued, prompt_id, turn))) FROM stream
)
GROUP BY ALL;
