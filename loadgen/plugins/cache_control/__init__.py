"""Prompts for a chosen cache hit rate, and the reset of the server's prefix cache."""
