"""Sweeps: the same run for each of several values of an option."""
