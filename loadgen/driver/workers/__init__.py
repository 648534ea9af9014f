"""Worker processes: a worker owns sockets, stamps and a share of the load; the parent owns the log."""
