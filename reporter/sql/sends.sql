-- REQUEST_SENT of each request.
CREATE TABLE sends AS SELECT seq, data::VARCHAR AS data FROM stream;
