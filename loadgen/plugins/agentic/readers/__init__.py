"""Readers of recorded sessions, one format a file."""
