"""What sensors recorded, in figures: the server's own account of the run next to the client's."""
