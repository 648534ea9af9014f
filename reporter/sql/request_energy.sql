-- One row a request of which the power was observed from its sending to its end: its share of the energy, and means over
-- that time of the power and the utilisation of all devices.
CREATE TABLE request_energy AS
SELECT
    sample_uuid,
    ended.share_before_j - began.share_before_j AS energy_joules,
    1e9 * (ended.energy_before_j - began.energy_before_j) / (ended_ns - sent_ns) AS power_watts,
    (ended.busy_before - began.busy_before) / (ended_ns - sent_ns) AS gpu_utilization_pct
FROM requests
INNER JOIN energy_flow AS began ON began.segment = requests.segment AND began.at_ns = sent_ns
INNER JOIN energy_flow AS ended ON ended.segment = requests.segment AND ended.at_ns = ended_ns
WHERE ended_ns > sent_ns AND ended.observed_before_ns - began.observed_before_ns = ended_ns - sent_ns;

-- No source says how busy a device of a declared power is.
UPDATE request_energy SET gpu_utilization_pct = NULL
WHERE NOT EXISTS (SELECT 1 FROM power_spans WHERE utilization_pct IS NOT NULL);
