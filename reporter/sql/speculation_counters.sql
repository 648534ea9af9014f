-- One row a metrics page and segment: what the server counted of speculative decoding between its first reading and its last
-- one, of all requests. `by_position` has the accepted tokens by their place in the draft; a gauge is the mean of its readings.
CREATE VIEW speculation_counters AS
WITH totals AS (
    SELECT
        segment,
        labels ['page'] AS page,
        at_ns,
        sum(readings ['spec_steps_total']) AS steps,
        sum(readings ['spec_drafted_tokens_total']) AS drafted,
        sum(readings ['spec_accepted_tokens_total']) AS accepted,
        sum(readings ['output_tokens_total']) AS output_tokens,
        avg(readings ['spec_acceptance_length_tokens']) AS acceptance_length
    FROM sensor_readings
    WHERE source = 'server' AND readings IS NOT NULL
    GROUP BY ALL
),

positions AS (
    SELECT
        segment, page, position,
        grown(sum(value) FILTER (moment = 'last'), sum(value) FILTER (moment = 'first')) AS accepted
    FROM (
        SELECT
            segment, page, moment,
            regexp_extract(line, 'position="(\d+)"', 1)::INTEGER AS position,
            regexp_extract(line, '[^ ]+$')::DOUBLE AS value
        FROM (
            SELECT
                segment, page, moment,
                unnest(regexp_extract_all(text, 'spec_decode_num_accepted_tokens_per_pos(?:_total)?\{[^}\n]*\} [-+0-9.eE]+')) AS line
            FROM server_pages
        )
    )
    GROUP BY ALL
)

SELECT
    *,
    (SELECT list(accepted ORDER BY position) FROM positions WHERE (segment, page) = (grown.segment, grown.page)) AS by_position
FROM (
    SELECT
        segment,
        page,
        grown(arg_max(steps, at_ns), arg_min(steps, at_ns)) AS steps,
        grown(arg_max(drafted, at_ns), arg_min(drafted, at_ns)) AS drafted,
        grown(arg_max(accepted, at_ns), arg_min(accepted, at_ns)) AS accepted,
        grown(arg_max(output_tokens, at_ns), arg_min(output_tokens, at_ns)) AS output_tokens,
        avg(acceptance_length) FILTER (acceptance_length > 0) AS acceptance_length_gauge
    FROM totals
    GROUP BY ALL
) AS grown;
