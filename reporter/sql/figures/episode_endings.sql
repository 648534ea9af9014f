-- One row an ending of measured episodes; 'none' for those that have none, of a run that was cut off.
SELECT coalesce(ending, 'none') AS ending, count(*)::BIGINT AS count
FROM (
    SELECT requests.conversation_id, any_value(episode_ends.ending) AS ending
    FROM requests LEFT JOIN episode_ends USING (conversation_id)
    WHERE is_episode AND measured AND status <> 'abandoned'
    GROUP BY requests.conversation_id
)
GROUP BY ALL
ORDER BY count DESC, ending;
