-- How many requests were in flight after each moment at which the number changed.
SELECT at_ns, sum(sum(change)) OVER (ORDER BY at_ns ROWS UNBOUNDED PRECEDING)::BIGINT AS in_flight
FROM (
    SELECT issued_ns AS at_ns, 1 AS change FROM requests WHERE issued_ns IS NOT NULL
    UNION ALL
    SELECT ended_ns, -1 FROM requests WHERE issued_ns IS NOT NULL AND ended_ns IS NOT NULL
)
GROUP BY at_ns
ORDER BY at_ns;
