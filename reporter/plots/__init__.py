"""Plots as values: their points by SQL over the log, without anything that draws them."""
