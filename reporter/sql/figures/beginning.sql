-- One row: how many first turns have a TTFT, and the TTFT of those that were issued in the second half of them.
WITH answered AS (
    SELECT issued_ns, ttft_ms
    FROM samples
    WHERE measured AND status = 'completed' AND ttft_ms IS NOT NULL AND coalesce(turn, 0) = 0
),

usual AS (
    SELECT ttft_ms
    FROM answered
    WHERE issued_ns > (SELECT quantile_disc(issued_ns, 0.5) FROM answered)
)

SELECT
    (SELECT count(*) FROM answered) AS requests,
    count(*) AS usual,
    coalesce(quantile_cont(ttft_ms, 0.5), 0) AS p50,
    coalesce(quantile_cont(ttft_ms, 0.95), 0) AS p95,
    coalesce(quantile_cont(ttft_ms, 0.99), 0) AS p99
FROM usual;
