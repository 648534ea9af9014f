"""A run in progress in a few figures: from the end of the log, by plain SQLite, and as lines of text."""
