"""Requests: the questions, their endpoints, and their order; one turn after the other."""
