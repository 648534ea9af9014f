"""Spans of a run that figures are computed over: the measured window, stages, steady state, seconds."""
