"""Suites: models, benchmarks and loads in one file; each with each is a run of `loadgen perf`."""
