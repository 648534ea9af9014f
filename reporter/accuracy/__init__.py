"""What a run scored in benchmarks: aggregates in DuckDB over the view `scores`."""
