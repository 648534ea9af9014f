-- One row a measured request that completed: its energy, and the figures of docs/telemetry.md that follow from it.
-- Variables: flops_per_token, bytes_per_token; peak_flops and peak_bytes of all devices together; NULL where not given.
SELECT
    sample_uuid,
    prompt_id,
    energy_joules,
    power_watts,
    gpu_utilization_pct,
    1e3 * output_tokens / nullif(latency_ms, 0) AS throughput_tok_per_sec,
    100 * throughput_tok_per_sec * getvariable('flops_per_token')::DOUBLE / getvariable('peak_flops')::DOUBLE AS mfu_pct,
    100 * throughput_tok_per_sec * getvariable('bytes_per_token')::DOUBLE / getvariable('peak_bytes')::DOUBLE AS mbu_pct,
    CASE WHEN correct THEN 1 / nullif(power_watts, 0) WHEN NOT correct THEN 0 END AS ipw,
    CASE WHEN correct THEN 1 / nullif(energy_joules, 0) WHEN NOT correct THEN 0 END AS ipj
FROM samples
LEFT JOIN request_energy USING (sample_uuid)
LEFT JOIN correctness USING (sample_uuid)
WHERE measured AND status = 'completed';
