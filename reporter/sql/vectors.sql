-- One row a response with vectors or scores: `sequences` is how many, one for each input.
CREATE VIEW vectors AS
SELECT
    sample_uuid,
    samples.prompt_id,
    samples.measured,
    in_window,
    results.count AS sequences,
    dimensions,
    padding,
    parse_ms,
    requests.bytes AS response_bytes,
    samples.input_tokens,
    latency_ms
FROM results JOIN samples USING (sample_uuid) JOIN requests USING (sample_uuid)
WHERE samples.status = 'completed';
