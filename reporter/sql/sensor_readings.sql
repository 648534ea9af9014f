-- How much a counter has grown; NULL where it went back, as after a restart.
CREATE MACRO grown(total, total_before) AS if(total >= total_before, total - total_before, NULL);

-- One row a reading of a sensor: all that it read of one thing at one moment.
CREATE TABLE sensor_readings AS
SELECT seq, at_ns + shift_of(seq) AS at_ns, sitting_of(seq) AS sitting, unnest(from_json(nullif(data::VARCHAR, ''), '{
    "source": "VARCHAR",
    "moment": "VARCHAR",
    "labels": "MAP(VARCHAR, VARCHAR)",
    "readings": "MAP(VARCHAR, DOUBLE)",
    "histograms": "MAP(VARCHAR, MAP(VARCHAR, DOUBLE))",
    "took_ms": "DOUBLE",
    "error": "VARCHAR",
    "message": "VARCHAR"
}'))
FROM stream;
