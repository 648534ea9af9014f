"""Archives: a run's logs as Parquet, read in the place of the logs (docs/archive.md)."""
