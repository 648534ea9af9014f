"""Traces: recorded arrival times of requests, with lengths of prompts and answers; one format a file."""
