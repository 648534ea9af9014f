"""Runs the client on every scenario, and compares the client's log with the server's record."""
