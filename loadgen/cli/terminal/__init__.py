"""Terminal output: tables, progress, colors."""
