-- The view `segments` under its former name.
CREATE VIEW sittings AS SELECT segment AS sitting, * EXCLUDE (segment) FROM segments;
