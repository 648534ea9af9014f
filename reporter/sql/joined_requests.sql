-- The same as joined_events.sql makes, of requests that compiled code has joined (reporter/log/_requests.c).
CREATE OR REPLACE MACRO joined() AS TABLE (
    SELECT
        * EXCLUDE (first_seq, last_seq),
        segment_of(first_seq) AS segment,
        node_of(last_seq) AS node
    FROM stream
);
