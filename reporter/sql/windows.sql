-- One row a segment: its part of the span that throughput is counted over (reporter/log/window.py decides it).
CREATE TABLE windows (segment BIGINT, kind VARCHAR, duration_s DOUBLE, start_ns BIGINT, end_ns BIGINT);
