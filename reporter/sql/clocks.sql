-- One row a segment: its own clock, and which events are its own (`shift_of` says how their times are shifted).
CREATE TABLE clocks AS
-- What it says about its completeness is on the first one's clock, as are the times of events.
SELECT
    segment, first_seq, started_at_ns, started_wall_ns, shift_ns, environment::VARCHAR AS environment,
    nullif(complete_until_ns, 0) + shift_ns AS complete_until_ns,
    nullif(written_ns, 0) + shift_ns AS written_ns
FROM stream;
