-- One row an ending of measured sessions.
SELECT ending, count(*)::BIGINT AS count
FROM sessions
WHERE measured
GROUP BY ALL
ORDER BY count DESC, ending;
