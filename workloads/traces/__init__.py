"""Traces: when requests came to a service, and how long they and their answers were; one format a file."""
