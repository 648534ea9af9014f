"""Plots as values: points by SQL over the log, without drawing code."""
