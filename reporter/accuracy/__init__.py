"""The scores of a run in benchmarks: aggregates in DuckDB over the view `scores`."""
