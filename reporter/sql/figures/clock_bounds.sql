-- What the uncertainty of the nodes' clocks means for rates. A window between events of the run has all completions, and
-- its ends are on two clocks; any other has its own ends, near which what arrived may belong to either side. Of an answer
-- that was arriving then, the share of its chunks counts, as in `arrived`.
WITH doubts AS (
    SELECT
        segment,
        node,
        start_ns,
        end_ns,
        if(kind IN ('requests', 'cut_off', 'running'), 0, uncertainty_ns) AS doubt_ns
    FROM windows, node_logs
    WHERE end_ns IS NOT NULL
),

inside AS (
    SELECT
        count(*) FILTER (ended_ns BETWEEN start_ns + doubt_ns AND end_ns - doubt_ns) AS least,
        count(*) FILTER (ended_ns BETWEEN start_ns - doubt_ns AND end_ns + doubt_ns) AS most
    FROM requests JOIN doubts USING (segment, node)
    WHERE measured AND status = 'completed'
),

near AS (
    SELECT
        sample_uuid,
        counted_input AS input_tokens,
        counted_output AS output_tokens,
        coalesce(first_token_ns, ended_ns) AS first_ns,
        coalesce(last_token_ns, ended_ns) AS last_ns,
        sent_ns,
        chunk_gaps_us,
        start_ns,
        end_ns,
        doubt_ns
    FROM counted JOIN doubts USING (segment, node)
    WHERE measured AND status = 'completed' AND doubt_ns > 0 AND (
        (first_ns <= start_ns + doubt_ns AND last_ns >= start_ns - doubt_ns)
        OR (first_ns <= end_ns + doubt_ns AND last_ns >= end_ns - doubt_ns)
    )
),

chunks_near AS (
    SELECT
        sample_uuid,
        sent_ns + 1000 * sum(gap_us) OVER (PARTITION BY sample_uuid ORDER BY chunk) AS at_ns,
        least(abs(at_ns - start_ns), abs(at_ns - end_ns)) <= doubt_ns AS is_in_doubt
    FROM (
        SELECT *, unnest(chunk_gaps_us) AS gap_us, generate_subscripts(chunk_gaps_us, 1) AS chunk FROM near
    )
),

tokens_in_doubt AS (
    SELECT
        coalesce(sum(output_tokens * coalesce(share, 1)), 0) AS output,
        output + coalesce(
            sum(input_tokens) FILTER (least(abs(first_ns - start_ns), abs(first_ns - end_ns)) <= doubt_ns), 0
        ) AS total
    FROM near
    LEFT JOIN (
        SELECT sample_uuid, count(*) FILTER (is_in_doubt) / count(*) AS share FROM chunks_near GROUP BY sample_uuid
    ) USING (sample_uuid)
),

arriving AS (SELECT sum(output_tokens) AS output, sum(input_tokens) + output AS total FROM arrived),

clock AS (
    SELECT if(count(*) = count(uncertainty_ns), max(uncertainty_ns), NULL) AS uncertainty_ns FROM node_logs WHERE is_here
),

ends AS (
    SELECT sum(if(kind IN ('requests', 'cut_off', 'running'), 2 * uncertainty_ns, 0)) / 1e9 AS in_doubt_s
    FROM windows, clock
    WHERE duration_s IS NOT NULL
),

spans AS (
    SELECT
        if(uncertainty_ns IS NULL, NULL, duration_s + in_doubt_s) AS longest_s,
        if(duration_s > in_doubt_s, duration_s - in_doubt_s, NULL) AS shortest_s
    FROM clock, ends, measured_window
)

SELECT
    uncertainty_ns / 1e6 AS clock_uncertainty_ms,
    least / longest_s AS qps_low,
    most / shortest_s AS qps_high,
    greatest(arriving.output - tokens_in_doubt.output, 0) / longest_s AS output_tps_low,
    (arriving.output + tokens_in_doubt.output) / shortest_s AS output_tps_high,
    greatest(arriving.total - tokens_in_doubt.total, 0) / longest_s AS total_tps_low,
    (arriving.total + tokens_in_doubt.total) / shortest_s AS total_tps_high
FROM inside, tokens_in_doubt, arriving, clock, spans;
