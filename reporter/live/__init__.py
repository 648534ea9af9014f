"""A run in progress in a few figures: from the end of its log, by plain SQLite, and as lines of text."""
