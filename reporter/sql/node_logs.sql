-- One row a node: whether its shard is there, and its clock in the last segment (reporter/log/node_clock.py).
CREATE TABLE node_logs (
    node VARCHAR,
    is_here BOOLEAN,
    shift_ns BIGINT,
    uncertainty_ns BIGINT,
    clock_readings BIGINT,
    clock_is_steady BOOLEAN
);
