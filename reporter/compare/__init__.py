"""Comparison of runs: what differs, by how much, and whether the difference is significant."""
