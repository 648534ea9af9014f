-- How the measured requests were issued, next to how they were planned, and how their responses were read.
-- Only a first turn has a plan: when a later one is due follows from the answer before it.
-- A second is behind where fewer than 95 % of the requests that were due in it, one aside, had left 50 ms after it.
WITH planned AS NOT MATERIALIZED (
    SELECT segment, scheduled_ns, issued_ns FROM requests WHERE measured AND coalesce(turn, 0) = 0
),

spans AS (
    SELECT
        segment,
        min(scheduled_ns) AS first_ns,
        max(scheduled_ns) - first_ns AS scheduled_span_ns,
        max(issued_ns) - min(issued_ns) AS issued_span_ns
    FROM planned
    GROUP BY segment
),

seconds AS (
    SELECT
        (scheduled_ns - first_ns) // 1_000_000_000 AS second,
        count(*) AS due,
        count(*) FILTER (issued_ns < first_ns + (second + 1) * 1_000_000_000 + 50_000_000) AS left_in_time
    FROM planned JOIN spans USING (segment)
    GROUP BY segment, second
)

SELECT
    is_bare() AS bare,
    (SELECT sum(scheduled_span_ns) FROM spans)::BIGINT AS scheduled_span_ns,
    (SELECT sum(issued_span_ns) FROM spans)::BIGINT AS issued_span_ns,
    (SELECT count(*) FROM seconds) AS seconds,
    (SELECT count(*) FROM seconds WHERE left_in_time + 1 < 0.95 * due) AS seconds_behind,
    (SELECT coalesce(sum(due), 0) FROM seconds WHERE left_in_time + 1 < 0.95 * due)::BIGINT AS requests_behind,
    sum(chunks) FILTER (status = 'completed')::BIGINT AS chunks,
    sum(coalesced) FILTER (status = 'completed')::BIGINT AS coalesced
FROM requests
WHERE measured;
