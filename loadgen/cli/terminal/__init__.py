"""What is shown on a terminal: tables, progress, colors."""
