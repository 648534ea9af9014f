-- One row: up to which event the log was read.
CREATE TABLE extent AS SELECT last_seq FROM stream;
