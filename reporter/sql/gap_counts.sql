-- How often each time between two chunks occurred: the distribution of ITL, exact and small. Of many requests compiled code may
-- have counted them.
CREATE VIEW IF NOT EXISTS gap_counts AS
SELECT gap_us / 1e3 AS value, count(*) AS weight
FROM (SELECT unnest(chunk_gaps_us[2:]) AS gap_us FROM requests WHERE measured AND status = 'completed')
GROUP BY gap_us;
