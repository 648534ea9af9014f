"""Speculative decoding: the outcome of draft tokens, by the server's counters and by request."""
