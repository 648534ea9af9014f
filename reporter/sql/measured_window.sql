-- One row: the span that throughput is counted over, the parts of all segments together.
CREATE TABLE measured_window (kind VARCHAR, duration_s DOUBLE, start_ns BIGINT, end_ns BIGINT);
