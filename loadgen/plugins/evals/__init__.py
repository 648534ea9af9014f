"""Benchmarks with published scorers."""
