-- How the measured requests were issued beside how they were planned to be, and how their responses were read.
SELECT
    sum(scheduled_span_ns)::BIGINT AS scheduled_span_ns,
    sum(issued_span_ns)::BIGINT AS issued_span_ns,
    sum(chunks) AS chunks,
    sum(coalesced) AS coalesced
FROM (
    SELECT
        max(scheduled_ns) - min(scheduled_ns) AS scheduled_span_ns,
        max(issued_ns) - min(issued_ns) AS issued_span_ns,
        sum(chunks) FILTER (status = 'completed') AS chunks,
        sum(coalesced) FILTER (status = 'completed') AS coalesced
    FROM requests
    WHERE measured
    GROUP BY sitting
);
