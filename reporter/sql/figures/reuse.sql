-- How many measured requests would have found a free connection if the server kept its connections.
WITH measured AS (SELECT issued_ns, ended_ns, reused FROM requests WHERE measured AND reused IS NOT NULL),

ends AS (SELECT min(ended_ns) AS first_ns, (SELECT max(issued_ns) FROM measured) AS last_ns FROM measured)

SELECT
    CASE WHEN (SELECT settings ->> '$.connection' FROM session) IS DISTINCT FROM 'new' THEN least(
        count(*) FILTER (issued_ns > first_ns), count(*) FILTER (ended_ns < last_ns)
    ) ELSE 0 END AS reusable
FROM measured, ends;
