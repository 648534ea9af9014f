"""A log, opened for reading: its tables and views, its session, and queries over it."""
