"""Comparison of runs: the differences, with size and significance."""
