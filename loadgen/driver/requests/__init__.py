"""Requests: questions, endpoints, and the order; one turn after the other."""
