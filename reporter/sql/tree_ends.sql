-- One row a session tree that is over, by its last TREE_ENDED. `is_cut`: the client ended it before its last turn.
CREATE TABLE tree_ends AS
SELECT DISTINCT ON (conversation_id)
    conversation AS conversation_id,
    session AS session_id,
    ending,
    begun_ns + shift_of(seq) AS begun_ns,
    never_asked,
    begun_at_ms,
    ending IN ('stopped', 'duration')
    OR coalesce(len(list_intersect(json_keys(never_asked), ['stopped', 'duration'])) > 0, false) AS is_cut
FROM (
    SELECT seq, unnest(from_json(nullif(data::VARCHAR, ''), columns_of(TreeEnded)))
    FROM stream
)
WHERE conversation IS NOT NULL
ORDER BY conversation_id, seq DESC;
