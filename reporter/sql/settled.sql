-- A log with the issue, the first chunk and the end of each request alone has neither phases nor sendings: all requests
-- are measured, from their issue to their end. A finding says so.
CREATE OR REPLACE TABLE bare AS
SELECT count(*) > 0 AND bool_and(phase IS NULL AND sent_ns IS NULL AND issues > 0) AS is_bare FROM requests;

CREATE OR REPLACE MACRO is_bare() AS (SELECT is_bare FROM bare);

UPDATE requests
SET measured = true, phase = 'performance', sent_ns = issued_ns, sent_high_ns = issued_ns,
    last_token_ns = CASE status WHEN 'completed' THEN coalesce(last_token_ns, ended_ns) END,
    last_token_low_ns = CASE status WHEN 'completed' THEN coalesce(last_token_low_ns, ended_ns) END
WHERE is_bare();

CREATE OR REPLACE MACRO is_of_trees() AS ((SELECT settings ->> '$.session_trees' FROM session) IS NOT NULL);

UPDATE requests SET settled = settled_together
FROM (
    SELECT
        conversation_id,
        CASE
            WHEN bool_or(is_episode) THEN coalesce(any_value(episode_ends.ending) <> 'cut', bool_or(error = 'agent_error'), false)
            WHEN is_of_trees() THEN coalesce(bool_and(settled) AND NOT any_value(is_cut), false)
            ELSE coalesce(bool_or(settled AND (status IN ('failed', 'left') OR turn + 1 = turns)), false)
        END AS settled_together
    FROM requests
    LEFT JOIN episode_ends USING (conversation_id)
    LEFT JOIN tree_ends USING (conversation_id)
    WHERE conversation_id IS NOT NULL
    GROUP BY conversation_id
) AS conversations
WHERE requests.conversation_id = conversations.conversation_id AND settled <> settled_together;

UPDATE requests SET status = 'abandoned'
WHERE NOT settled AND segment < (SELECT max(segment) FROM clocks);

-- Records of another program do not say how often a request was sent; so nothing says what sending took.
UPDATE requests SET scheduled_ns = NULL, attempts = NULL WHERE is_imported();
UPDATE requests SET sent_ns = NULL, sent_high_ns = NULL, ended_ns = NULL WHERE is_imported() AND NOT is_measured_elsewhere();

DROP TABLE IF EXISTS marks;
DROP TABLE IF EXISTS issues;
DROP TABLE IF EXISTS sends;
