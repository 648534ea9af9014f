"""Scoring the stored answers of a run: which scorers, a pool of processes that grade, passes in the log."""
