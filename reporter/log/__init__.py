"""A log, opened for reading: tables, views, session, and queries."""
