-- One row a bucket of the server's TTFT: how many requests it counted up to a bound, from the first page to the last.
SELECT bound, sum(upto)::BIGINT AS requests
FROM (
    SELECT
        segment,
        labels,
        bucket.key AS bound,
        grown(arg_max(bucket.value, at_ns), arg_min(bucket.value, at_ns)) AS upto
    FROM (
        SELECT at_ns, segment, labels, unnest(map_entries(histograms ['ttft'])) AS bucket
        FROM sensor_readings
        WHERE source = 'server' AND histograms IS NOT NULL
    )
    GROUP BY segment, labels, bucket.key
    HAVING count(*) > 1
)
GROUP BY bound
HAVING count(upto) = count(*);
