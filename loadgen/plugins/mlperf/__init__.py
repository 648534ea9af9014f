"""Mlperf."""
