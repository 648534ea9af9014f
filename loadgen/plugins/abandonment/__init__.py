"""Clients that leave before the answer is complete, and the tokens that the server generates after that."""
