"""Speculative decoding: what became of draft tokens, by the server's counters and by request."""
