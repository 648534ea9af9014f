-- Of the measured requests that completed, how many have nothing that TPOT could divide by (reporter/findings/undefined.py).
SELECT
    count(*) FILTER (tpot_tokens < 1 AND first_counted_ns IS NOT NULL) AS one_token,
    count(*) FILTER (tpot_tokens IS NULL AND output_tokens IS NOT NULL AND first_counted_ns IS NOT NULL) AS first_chunk_unknown
FROM samples
WHERE measured AND status = 'completed';
