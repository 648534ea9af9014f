-- One row an episode that is over, by its last EPISODE_ENDED.
CREATE TABLE episode_ends AS
SELECT DISTINCT ON (conversation_id)
    * EXCLUDE (conversation, at_ns, by_ns, duration_ns, turns)
        REPLACE (moments_of(EpisodeEnded, by_ns)),
    turns AS played_turns,
    conversation AS conversation_id,
    coalesce(started_ns + by_ns + duration_ns, at_ns) AS ended_ns,
    at_ns AS finished_ns
FROM (
    SELECT seq, at_ns + shift_of(seq) AS at_ns, shift_of(seq) AS by_ns, unnest(from_json(nullif(data::VARCHAR, ''), columns_of(EpisodeEnded)))
    FROM stream
)
WHERE conversation IS NOT NULL
ORDER BY conversation_id, seq DESC;
