"""Worker processes: each owns its sockets, its share of the load and its stamps; the parent owns the log."""
