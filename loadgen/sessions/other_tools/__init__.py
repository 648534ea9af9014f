"""Command lines of other load generators: what to type here in their place."""
