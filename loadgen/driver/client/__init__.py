"""Talking to an endpoint: sans-IO decoding in one half, the measured transport in the other."""
