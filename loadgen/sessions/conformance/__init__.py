"""Trying the client on every scenario, and holding what it logged against what the server did."""
