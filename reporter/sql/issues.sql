-- LOADGEN_ISSUE_CALLED of each request.
CREATE TABLE issues AS SELECT seq, data::VARCHAR AS data FROM stream;
