"""The contents of a run's page besides the report: intervals, SQL, plots, and excerpts of texts."""
