"""The nodes of a Ray cluster: starting them, and what each has installed."""
