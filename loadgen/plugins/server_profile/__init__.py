"""The profiler of the server under test, run in the measured phase."""
