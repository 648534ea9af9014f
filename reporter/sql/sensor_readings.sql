-- How much a counter has grown; NULL where it went back, as after a restart.
CREATE MACRO grown(total, total_before) AS if(total >= total_before, total - total_before, NULL);

-- One row a reading of a sensor: all that it read of one thing at one moment.
CREATE TABLE sensor_readings AS
SELECT seq, at_ns + shift_of(seq) AS at_ns, segment_of(seq) AS segment, unnest(from_json(nullif(data::VARCHAR, ''), columns_of(SensorReading)))
FROM stream;
